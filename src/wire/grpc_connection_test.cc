#include "wire/grpc_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/grpc_test_client.h"

namespace weir::wire {
namespace {

using testing::ElementsAre;
using testing::Gt;
using testing::HasSubstr;
using testing::Lt;

// "/echo" says a message again, "/fail" why not; "/stream" repeats each message of a stream, says
// "bye" at its end, and "/open" says one message and stays.
class EchoService final : public GrpcService {
 public:
  GrpcMethod Find(std::string_view path) override {
    if (path == "/echo") return {GrpcShape::kUnary, 1};
    if (path == "/fail") return {GrpcShape::kUnary, 2};
    if (path == "/throw") return {GrpcShape::kUnary, 3};
    if (path == "/stream") return {GrpcShape::kStreams, 4};
    return {};
  }
  GrpcStatus Answer(std::uint8_t method, std::string_view message, std::string& response) override {
    ++answered;
    if (method == 2) {
      response += "not to be seen";
      return {GrpcCode::kNotFound, "100% \u00fcber\n"};
    }
    if (method == 3) throw std::runtime_error("broken");
    response.append(message);
    return {};
  }
  void OnMessage(GrpcCall& call, std::string_view message) override {
    calls.push_back(&call);
    call.Send(message);
  }
  void OnEnd(GrpcCall& call) override {
    call.Send("bye");
    call.Finish({});
  }
  void OnGone(GrpcCall& /*call*/) override { ++gone; }

  int answered = 0;
  int gone = 0;
  std::vector<GrpcCall*> calls;
};

class GrpcConnectionTest : public testing::Test {
 protected:
  void Restart(const GrpcLimits& limits) {
    connection_ = std::make_unique<GrpcConnection>(service_, limits);
  }
  // What the client has to say is served, in one read, and what the server says is heard.
  GrpcConnection::Progress Exchange() { return Serve(client_->Bytes()); }
  GrpcConnection::Progress Serve(std::string_view bytes) {
    std::string out;
    const GrpcConnection::Progress progress = connection_->Serve(bytes, now_, out);
    written_ += out.size();
    client_->Hear(out);
    return progress;
  }
  void ExchangeAll() {
    for (;;) {
      const std::string bytes = client_->Bytes();
      if (bytes.empty()) return;
      std::size_t done = 0;
      while (done < bytes.size()) {
        const auto progress = Serve(std::string_view(bytes).substr(done));
        if (progress.close) return;
        done += progress.consumed;
      }
    }
  }
  const GrpcHeard& Heard(std::int32_t id) { return client_->heard(id); }

  EchoService service_;
  Instant now_ = Instant(std::chrono::hours(1));
  std::size_t written_ = 0;
  std::unique_ptr<GrpcTestClient> client_ = std::make_unique<GrpcTestClient>();
  std::unique_ptr<GrpcConnection> connection_ = std::make_unique<GrpcConnection>(service_);
};

TEST_F(GrpcConnectionTest, AUnaryCallIsAnsweredByFieldsAMessageAndTrailers) {
  const std::int32_t id = client_->Call("/echo", "hello");
  const auto progress = Exchange();
  EXPECT_FALSE(progress.close);
  EXPECT_FALSE(progress.in_request);
  EXPECT_EQ(Heard(id).field(":status"), "200");
  EXPECT_EQ(Heard(id).field("content-type"), "application/grpc");
  EXPECT_EQ(Heard(id).field("grpc-status"), "0");
  EXPECT_EQ(Heard(id).body, Framed("hello"));
  EXPECT_EQ(Heard(id).frames, 3);
  EXPECT_TRUE(Heard(id).ended);
  EXPECT_EQ(Heard(id).closed, NGHTTP2_NO_ERROR);
}

TEST_F(GrpcConnectionTest, BytesInAnyPiecesGiveTheSameAnswers) {
  std::vector<std::int32_t> ids;
  for (int i = 0; i < 20; ++i) ids.push_back(client_->Call("/echo", std::string(i * 7, 'x')));
  const std::string bytes = client_->Bytes();
  for (const char& byte : bytes) Serve({&byte, 1});
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(Heard(ids[i]).body, Framed(std::string(i * 7, 'x'))) << i;
    EXPECT_EQ(Heard(ids[i]).field("grpc-status"), "0");
  }
}

TEST_F(GrpcConnectionTest, ThousandsOfCallsInOneReadAreAnsweredInOneWrite) {
  std::vector<std::int32_t> ids;
  std::string bytes;
  for (int i = 0; i < 5'000; ++i) {
    ids.push_back(client_->Call("/echo", "m"));
    bytes += client_->Bytes();
  }
  const auto progress = Serve(bytes);
  EXPECT_EQ(progress.consumed, bytes.size());
  EXPECT_EQ(service_.answered, 5'000);
  EXPECT_TRUE(std::all_of(ids.begin(), ids.end(), [&](std::int32_t id) {
    return Heard(id).body == Framed("m") && Heard(id).field("grpc-status") == "0";
  }));
}

TEST_F(GrpcConnectionTest, EnoughIsWrittenAndTheRestIsServedWhenItIsGone) {
  client_ = std::make_unique<GrpcTestClient>(
      std::vector<nghttp2_settings_entry>{{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 20}});
  client_->OpenWindow(0, 1 << 24);
  const std::string large(3000, 'x');
  std::vector<std::int32_t> ids;
  for (int i = 0; i < 300; ++i) ids.push_back(client_->Call("/echo", large));
  std::string bytes = client_->Bytes();  // as much as the first window allows
  const std::size_t first = written_;
  while (true) {
    const auto progress = Serve(bytes);
    EXPECT_LT(written_ - first, GrpcConnection::kEnough * 2);
    written_ = first;
    bytes.erase(0, progress.consumed);
    EXPECT_EQ(progress.more, !bytes.empty());
    bytes += client_->Bytes();
    if (bytes.empty()) break;
  }
  for (const std::int32_t id : ids) EXPECT_EQ(Heard(id).body.size(), large.size() + 5);
}

TEST_F(GrpcConnectionTest, AFailureIsSaidInTrailersOnlyAndItsTextIsEncoded) {
  const std::int32_t id = client_->Call("/fail", "x");
  Exchange();
  EXPECT_EQ(Heard(id).field(":status"), "200");
  EXPECT_EQ(Heard(id).field("grpc-status"), "5");
  EXPECT_EQ(Heard(id).field("grpc-message"), "100%25 %C3%BCber%0A");
  EXPECT_EQ(Heard(id).body, "");
  EXPECT_EQ(Heard(id).frames, 1);
  EXPECT_TRUE(Heard(id).ended);
}

TEST_F(GrpcConnectionTest, AnUnknownMethodIsUnimplemented) {
  const std::int32_t id = client_->Call("/other", "x");
  Exchange();
  EXPECT_EQ(Heard(id).field(":status"), "200");
  EXPECT_EQ(Heard(id).field("grpc-status"), "12");
}

TEST_F(GrpcConnectionTest, WhatIsNoCallOfGrpcIsAnsweredByHttp) {
  const auto with = [&](std::size_t field, const char* value) {
    GrpcFields fields = CallFields("/echo");
    fields[field].second = value;
    return client_->Call(fields, Framed("x"));
  };
  const std::int32_t get = with(0, "GET");
  const std::int32_t json = with(4, "application/json");
  const std::int32_t web = with(4, "application/grpc-web");
  const std::int32_t proto = with(4, "application/grpc+proto");
  GrpcFields untyped = CallFields("/echo");
  untyped.erase(untyped.begin() + 4);
  const std::int32_t none = client_->Call(untyped, Framed("x"));
  Exchange();
  EXPECT_EQ(Heard(get).field(":status"), "405");
  EXPECT_EQ(Heard(json).field(":status"), "415");
  EXPECT_EQ(Heard(web).field(":status"), "415");
  EXPECT_EQ(Heard(none).field(":status"), "415");
  EXPECT_EQ(Heard(proto).field("grpc-status"), "0");
  EXPECT_EQ(service_.answered, 1);
}

TEST_F(GrpcConnectionTest, ACompressedMessageIsUnimplementedAndSaysWhatIsNot) {
  const std::int32_t id = client_->Call(CallFields("/echo"), Framed("x", 1));
  Exchange();
  EXPECT_EQ(Heard(id).field("grpc-status"), "12");
  EXPECT_EQ(Heard(id).field("grpc-accept-encoding"), "identity");
  EXPECT_EQ(service_.answered, 0);
}

TEST_F(GrpcConnectionTest, AUnaryCallHasExactlyOneMessage) {
  const std::int32_t none = client_->Call(CallFields("/echo"), "");
  const std::int32_t half = client_->Call(CallFields("/echo"), Framed("hello").substr(0, 7));
  const std::int32_t two = client_->Call(CallFields("/echo"), Framed("a") + Framed("b"));
  const std::int32_t empty = client_->Call("/echo", "");
  Exchange();
  for (const std::int32_t id : {none, half, two}) EXPECT_EQ(Heard(id).field("grpc-status"), "13");
  EXPECT_EQ(Heard(empty).field("grpc-status"), "0");
  EXPECT_EQ(service_.answered, 1);
}

TEST_F(GrpcConnectionTest, AMessageMayBeAsLongAsTheLimitAndNoLonger) {
  Restart({.message = 100'000});
  const std::int32_t longest = client_->Call("/echo", std::string(100'000, 'x'));
  const std::int32_t longer = client_->Call("/echo", std::string(100'001, 'x'));
  ExchangeAll();
  client_->OpenWindow(longest, 1 << 20);
  client_->OpenWindow(0, 1 << 20);
  ExchangeAll();
  EXPECT_EQ(Heard(longest).body.size(), 100'005);
  EXPECT_EQ(Heard(longest).field("grpc-status"), "0");
  EXPECT_EQ(Heard(longer).field("grpc-status"), "8");
  EXPECT_THAT(Heard(longer).field("grpc-message"), HasSubstr("100000 bytes"));
}

TEST_F(GrpcConnectionTest, MessagesThatDoNotCompleteMayNotPileUp) {
  Restart({.waiting = 50'000});
  std::vector<std::int32_t> ids;
  for (int i = 0; i < 4; ++i) {
    ids.push_back(client_->Call(CallFields("/echo"),
                                Framed(std::string(20'000, 'x')).substr(0, 15'000),
                                GrpcTestClient::Then::kStay));
  }
  ExchangeAll();
  EXPECT_EQ(Heard(ids[3]).field("grpc-status"), "8");
  // The others go on.
  client_->Say(ids[0], std::string(5'005, 'x'), GrpcTestClient::Then::kEnd);
  ExchangeAll();
  EXPECT_EQ(Heard(ids[0]).field("grpc-status"), "0");
}

TEST_F(GrpcConnectionTest, FieldsMayBeOnlySoLong) {
  GrpcFields fields = CallFields("/echo");
  for (int i = 0; i < 20; ++i)
    fields.emplace_back("x-" + std::to_string(i), std::string(1000, 'x'));
  const std::int32_t id = client_->Call(fields, Framed("x"));
  const std::int32_t other = client_->Call("/echo", "x");
  Exchange();
  EXPECT_EQ(Heard(id).field(":status"), "431");
  EXPECT_EQ(Heard(other).field("grpc-status"), "0");
}

TEST_F(GrpcConnectionTest, AnAnswerWaitsForItsWindow) {
  client_ = std::make_unique<GrpcTestClient>(
      std::vector<nghttp2_settings_entry>{{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 10}});
  const std::int32_t id = client_->Call("/echo", std::string(100, 'x'));
  const std::int32_t small = client_->Call("/echo", "y");
  Exchange();
  EXPECT_EQ(Heard(id).body.size(), 10);
  EXPECT_FALSE(Heard(id).ended);
  EXPECT_TRUE(Heard(small).ended);
  client_->OpenWindow(id, 94);
  Exchange();
  EXPECT_EQ(Heard(id).body.size(), 104);
  EXPECT_FALSE(Heard(id).ended);
  client_->OpenWindow(id, 1);
  Exchange();
  EXPECT_EQ(Heard(id).body, Framed(std::string(100, 'x')));
  EXPECT_EQ(Heard(id).field("grpc-status"), "0");
}

TEST_F(GrpcConnectionTest, AnswersThatAClientDoesNotTakeEndTheConnection) {
  Restart({.unsent = 10'000});
  client_ = std::make_unique<GrpcTestClient>(
      std::vector<nghttp2_settings_entry>{{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0}});
  for (int i = 0; i < 9; ++i) client_->Call("/echo", std::string(1'000, 'x'));
  EXPECT_FALSE(Exchange().close);
  client_->Call("/echo", std::string(1'000, 'x'));
  EXPECT_TRUE(Exchange().close);
  EXPECT_EQ(client_->farewell(), NGHTTP2_ENHANCE_YOUR_CALM);
}

TEST_F(GrpcConnectionTest, StreamsSayManyMessagesEachWay) {
  const std::int32_t id =
      client_->Call(CallFields("/stream"), Framed("a") + Framed("b"), GrpcTestClient::Then::kStay);
  EXPECT_FALSE(Exchange().in_request);
  EXPECT_THAT(Heard(id).messages(), ElementsAre("a", "b"));
  client_->Say(id, Framed("c").substr(0, 3));
  EXPECT_TRUE(Exchange().in_request);
  client_->Say(id, Framed("c").substr(3));
  EXPECT_FALSE(Exchange().in_request);
  EXPECT_THAT(Heard(id).messages(), ElementsAre("a", "b", "c"));
  EXPECT_FALSE(Heard(id).ended);
  // Unasked.
  service_.calls.front()->Send("news");
  std::string out;
  connection_->Write(out);
  client_->Hear(out);
  client_->Say(id, "", GrpcTestClient::Then::kEnd);
  Exchange();
  EXPECT_THAT(Heard(id).messages(), ElementsAre("a", "b", "c", "news", "bye"));
  EXPECT_EQ(Heard(id).field("grpc-status"), "0");
  EXPECT_EQ(service_.gone, 1);
}

TEST_F(GrpcConnectionTest, ACallThatIsFinishedEarlyIsClosedForTheClientToo) {
  const std::int32_t id =
      client_->Call(CallFields("/stream"), Framed("a"), GrpcTestClient::Then::kStay);
  Exchange();
  service_.calls.front()->Finish({GrpcCode::kUnavailable, "bye"});
  std::string out;
  connection_->Write(out);
  client_->Hear(out);
  EXPECT_EQ(Heard(id).field("grpc-status"), "14");
  EXPECT_EQ(Heard(id).field("grpc-message"), "bye");
  EXPECT_EQ(Heard(id).closed, NGHTTP2_NO_ERROR);
  EXPECT_EQ(service_.gone, 1);
}

TEST_F(GrpcConnectionTest, AClientThatTakesItsCallBackIsForgotten) {
  const std::int32_t id =
      client_->Call(CallFields("/stream"), Framed("a"), GrpcTestClient::Then::kStay);
  const std::int32_t other =
      client_->Call(CallFields("/echo"), Framed("abc").substr(0, 6), GrpcTestClient::Then::kStay);
  EXPECT_FALSE(Exchange().in_request);
  client_->Ping();
  EXPECT_TRUE(Exchange().in_request);
  client_->Reset(id);
  client_->Reset(other);
  EXPECT_FALSE(Exchange().in_request);
  EXPECT_EQ(service_.gone, 1);
  EXPECT_EQ(service_.answered, 0);
}

TEST_F(GrpcConnectionTest, CallsThatAreBegunAndTakenBackEndTheConnection) {
  const auto flood = [&](int count) {
    bool closed = false;
    for (int i = 0; i < count && !closed; ++i) {
      const std::int32_t id = client_->Call(CallFields("/echo"), "", GrpcTestClient::Then::kStay);
      std::string bytes = client_->Bytes();
      client_->Reset(id);
      bytes += client_->Bytes();
      closed = Serve(bytes).close;
    }
    return closed;
  };
  EXPECT_FALSE(flood(900));
  now_ += std::chrono::seconds(10);  // time forgives
  EXPECT_FALSE(flood(900));
  EXPECT_TRUE(flood(200));
  EXPECT_EQ(client_->farewell(), NGHTTP2_ENHANCE_YOUR_CALM);
}

TEST_F(GrpcConnectionTest, PingsAreAnsweredButNotWithoutEnd) {
  client_->Ping();
  EXPECT_FALSE(Exchange().close);
  EXPECT_EQ(client_->pongs(), 1);
  bool closed = false;
  int count = 1;
  for (; !closed && count < 20'000; ++count) {
    client_->Ping();
    closed = Exchange().close;
  }
  EXPECT_TRUE(closed);
  EXPECT_THAT(count, testing::AllOf(Gt(9'000), Lt(11'000)));
}

TEST_F(GrpcConnectionTest, PingsOfAClientThatAsksAreNoFlood) {
  for (int i = 0; i < 15'000; ++i) {
    client_->Ping();
    if (i % 5 == 0) client_->Call("/echo", "x");
    ASSERT_FALSE(Exchange().close) << i;
  }
}

TEST_F(GrpcConnectionTest, AFloodInOneReadIsCutOff) {
  Exchange();
  std::string pings;
  for (int i = 0; i < 3'000; ++i) pings += std::string("\0\0\x08\x06\0\0\0\0\0", 9) + "12345678";
  EXPECT_TRUE(Serve(pings).close);
  EXPECT_EQ(client_->farewell(), NGHTTP2_ENHANCE_YOUR_CALM);
}

TEST_F(GrpcConnectionTest, MoreStreamsThanAllowedAreRefused) {
  Restart({.streams = 10});
  std::vector<std::int32_t> ids;
  for (int i = 0; i < 12; ++i) {
    ids.push_back(client_->Call(CallFields("/echo"), "", GrpcTestClient::Then::kStay));
  }
  Exchange();
  EXPECT_EQ(client_->most_streams(), 10);
  EXPECT_EQ(Heard(ids[9]).closed, std::nullopt);
  EXPECT_EQ(Heard(ids[10]).closed, NGHTTP2_REFUSED_STREAM);
  EXPECT_EQ(Heard(ids[11]).closed, NGHTTP2_REFUSED_STREAM);
}

TEST_F(GrpcConnectionTest, WhoLeavesFinishesWhatIsUnderWayAndTakesNoMore) {
  const std::int32_t under_way =
      client_->Call(CallFields("/echo"), "", GrpcTestClient::Then::kStay);
  Exchange();
  connection_->GoAway();
  std::string out;
  connection_->Write(out);
  client_->Hear(out);
  EXPECT_EQ(client_->farewell(), NGHTTP2_NO_ERROR);
  client_->Say(under_way, Framed("x"), GrpcTestClient::Then::kEnd);
  EXPECT_TRUE(Exchange().close);
  EXPECT_EQ(Heard(under_way).field("grpc-status"), "0");
}

TEST_F(GrpcConnectionTest, WhoDoesNotSpeakHttp2IsClosed) {
  EXPECT_TRUE(Serve("GET / HTTP/1.1\r\nHost: weir\r\n\r\n").close);
  Restart({});
  EXPECT_TRUE(Serve("PRI * HTTP/2.0\r\n").in_request);
  EXPECT_TRUE(Serve("X").close);
}

TEST_F(GrpcConnectionTest, WhatTheServiceThrowsIsThrown) {
  client_->Call("/throw", "x");
  EXPECT_THROW(Exchange(), std::runtime_error);
}

}  // namespace
}  // namespace weir::wire
