#include "wire/grpc_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/grpc_connection_harness.h"

namespace weir::wire {
namespace {

using testing::ElementsAre;

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
  const std::int32_t more = client_->Call(CallFields("/echo"), Framed("a") + Framed("b", 1));
  const std::string bytes = client_->Bytes();
  for (const char& byte : bytes) Serve({&byte, 1});
  for (const std::int32_t id : {none, half, two, more})
    EXPECT_EQ(Heard(id).field("grpc-status"), "13");
  EXPECT_EQ(Heard(empty).field("grpc-status"), "0");
  EXPECT_EQ(service_.answered, 1);
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
