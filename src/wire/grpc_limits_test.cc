// What a client may use up, from both sides of each bound.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "tests/grpc_connection_harness.h"
#include "wire/grpc_connection.h"

namespace weir::wire {
namespace {

using testing::Gt;
using testing::HasSubstr;
using testing::Lt;

using GrpcLimitsTest = GrpcConnectionTest;

TEST_F(GrpcLimitsTest, EnoughIsWrittenAndTheRestIsServedWhenItIsGone) {
  client_ = std::make_unique<GrpcTestClient>(
      std::vector<nghttp2_settings_entry>{{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 20}});
  client_->OpenWindow(0, 1 << 24);
  const std::string large(3000, 'x');
  std::vector<std::int32_t> ids;
  for (int i = 0; i < 300; ++i) ids.push_back(client_->Call("/echo", large));
  std::string bytes = client_->Bytes();  // as much as the first window allows
  const std::size_t first = written_;
  while (!bytes.empty() || !unread_.empty()) {
    const auto progress = Serve(bytes);
    EXPECT_LT(written_ - first, GrpcConnection::kEnough * 2);
    written_ = first;
    EXPECT_EQ(progress.more, !unread_.empty());
    bytes = client_->Bytes();
  }
  for (const std::int32_t id : ids) EXPECT_EQ(Heard(id).body.size(), large.size() + 5);
}

TEST_F(GrpcLimitsTest, AMessageMayBeAsLongAsTheLimitAndNoLonger) {
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

TEST_F(GrpcLimitsTest, MessagesThatDoNotCompleteMayNotPileUp) {
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

TEST_F(GrpcLimitsTest, NorMessagesThatAreCompleteInCallsThatAreNot) {
  Restart({.waiting = 50'000});
  std::vector<std::int32_t> ids;
  for (int i = 0; i < 4; ++i) {
    ids.push_back(client_->Call(CallFields("/echo"), Framed(std::string(15'000, 'x')),
                                GrpcTestClient::Then::kStay));
  }
  ExchangeAll();
  EXPECT_EQ(Heard(ids[2]).field("grpc-status"), "(none)");
  EXPECT_EQ(Heard(ids[3]).field("grpc-status"), "8");
  client_->Say(ids[0], "", GrpcTestClient::Then::kEnd);
  ExchangeAll();
  EXPECT_EQ(Heard(ids[0]).field("grpc-status"), "0");
  // And there is room again.
  const std::int32_t next = client_->Call(CallFields("/echo"), Framed(std::string(15'000, 'x')),
                                          GrpcTestClient::Then::kStay);
  ExchangeAll();
  EXPECT_EQ(Heard(next).field("grpc-status"), "(none)");
}

TEST_F(GrpcLimitsTest, OfMessagesOfStreamsNothingIsKept) {
  Restart({.waiting = 50'000});
  client_ = std::make_unique<GrpcTestClient>(
      std::vector<nghttp2_settings_entry>{{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 20}});
  client_->OpenWindow(0, 1 << 24);
  std::vector<std::int32_t> ids;
  for (int i = 0; i < 10; ++i) {  // each comes in two frames
    ids.push_back(client_->Call(CallFields("/stream"), Framed(std::string(20'000, 'x')),
                                GrpcTestClient::Then::kStay));
    ExchangeAll();
  }
  for (const std::int32_t id : ids) {
    EXPECT_EQ(Heard(id).field("grpc-status"), "(none)");
    EXPECT_EQ(Heard(id).body.size(), 20'005);
  }
}

TEST_F(GrpcLimitsTest, AClientThatIsAlwaysAMessageBehindHearsAllOfThem) {
  client_ = std::make_unique<GrpcTestClient>(
      std::vector<nghttp2_settings_entry>{{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0}});
  const std::int32_t id =
      client_->Call(CallFields("/stream"), Framed("0"), GrpcTestClient::Then::kStay);
  Exchange();
  std::vector<std::string> said = {"0"};
  for (int i = 1; i < 500; ++i) {
    said.push_back(std::to_string(i));
    client_->Say(id, Framed(said[i]));
    Exchange();
    client_->OpenWindow(id, static_cast<std::int32_t>(Framed(said[i - 1]).size()));
    Exchange();
    ASSERT_EQ(Heard(id).messages().size(), i);
  }
  client_->OpenWindow(id, 100);
  Exchange();
  EXPECT_EQ(Heard(id).messages(), said);
}

TEST_F(GrpcLimitsTest, FieldsMayBeOnlySoLong) {
  GrpcFields fields = CallFields("/echo");
  for (int i = 0; i < 20; ++i)
    fields.emplace_back("x-" + std::to_string(i), std::string(1000, 'x'));
  const std::int32_t id = client_->Call(fields, Framed("x"));
  const std::int32_t other = client_->Call("/echo", "x");
  Exchange();
  EXPECT_EQ(Heard(id).field(":status"), "431");
  EXPECT_EQ(Heard(other).field("grpc-status"), "0");
}

TEST_F(GrpcLimitsTest, AnAnswerWaitsForItsWindow) {
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

TEST_F(GrpcLimitsTest, AnswersThatAClientDoesNotTakeEndTheConnection) {
  Restart({.unsent = 10'000});
  client_ = std::make_unique<GrpcTestClient>(
      std::vector<nghttp2_settings_entry>{{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 0}});
  for (int i = 0; i < 9; ++i) client_->Call("/echo", std::string(1'000, 'x'));
  EXPECT_FALSE(Exchange().close);
  client_->Call("/echo", std::string(1'000, 'x'));
  EXPECT_TRUE(Exchange().close);
  EXPECT_EQ(client_->farewell(), NGHTTP2_ENHANCE_YOUR_CALM);
}

TEST_F(GrpcLimitsTest, CallsThatAreBegunAndTakenBackEndTheConnection) {
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

TEST_F(GrpcLimitsTest, PingsAreAnsweredButNotWithoutEnd) {
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

TEST_F(GrpcLimitsTest, PingsOfAClientThatAsksAreNoFlood) {
  for (int i = 0; i < 15'000; ++i) {
    client_->Ping();
    if (i % 5 == 0) client_->Call("/echo", "x");
    ASSERT_FALSE(Exchange().close) << i;
  }
}

TEST_F(GrpcLimitsTest, AFloodInOneReadIsCutOff) {
  Exchange();
  std::string pings;
  for (int i = 0; i < 11'000; ++i) pings += std::string("\0\0\x08\x06\0\0\0\0\0", 9) + "12345678";
  EXPECT_TRUE(Serve(pings).close);
  EXPECT_EQ(client_->farewell(), NGHTTP2_ENHANCE_YOUR_CALM);
}

TEST_F(GrpcLimitsTest, MoreStreamsThanAllowedAreRefused) {
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

}  // namespace
}  // namespace weir::wire
