// Unary calls that are answered later than they are asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/grpc_connection_harness.h"

namespace weir::wire {
namespace {

class GrpcLateTest : public GrpcConnectionTest {
 protected:
  // What the server says without being asked is heard.
  void Write() {
    std::string out;
    connection_->Write(out);
    client_->Hear(out);
  }
  void Answer(std::size_t call, std::string_view message) {
    service_.calls[call]->Send(message);
    service_.calls[call]->Finish({});
  }
};

TEST_F(GrpcLateTest, AnAnswerThatComesLaterIsTheSame) {
  const std::int32_t id = client_->Call("/later", "question");
  const GrpcConnection::Progress progress = Exchange();
  EXPECT_FALSE(progress.close);
  EXPECT_FALSE(progress.in_request) << "the client has said all it has to say";
  EXPECT_EQ(Heard(id).frames, 0);
  Answer(0, "answer");
  EXPECT_EQ(service_.gone, 0);
  Write();
  EXPECT_EQ(Heard(id).field(":status"), "200");
  EXPECT_EQ(Heard(id).field("content-type"), "application/grpc");
  EXPECT_EQ(Heard(id).body, Framed("answer"));
  EXPECT_EQ(Heard(id).field("grpc-status"), "0");
  EXPECT_EQ(Heard(id).frames, 3);
  EXPECT_EQ(Heard(id).closed, NGHTTP2_NO_ERROR);
  EXPECT_EQ(service_.gone, 1);
}

TEST_F(GrpcLateTest, AFailureMayComeLaterToo) {
  const std::int32_t id = client_->Call("/later", "question");
  Exchange();
  service_.calls[0]->Finish({GrpcCode::kNotFound, "no"});
  Write();
  EXPECT_EQ(Heard(id).field("grpc-status"), "5");
  EXPECT_EQ(Heard(id).field("grpc-message"), "no");
  EXPECT_EQ(Heard(id).body, "");
  EXPECT_EQ(Heard(id).frames, 1);
}

TEST_F(GrpcLateTest, NoOtherCallWaitsForIt) {
  const std::int32_t first = client_->Call("/later", "1");
  const std::int32_t second = client_->Call("/later", "2");
  const std::int32_t echo = client_->Call("/echo", "3");
  Exchange();
  EXPECT_EQ(Heard(echo).body, Framed("3"));
  Answer(1, "second");
  const std::int32_t after = client_->Call("/echo", "4");
  Exchange();
  EXPECT_EQ(Heard(second).body, Framed("second"));
  EXPECT_EQ(Heard(after).body, Framed("4"));
  EXPECT_EQ(Heard(first).frames, 0);
  Answer(0, "first");
  Write();
  EXPECT_EQ(Heard(first).body, Framed("first"));
}

TEST_F(GrpcLateTest, ACallThatIsTakenBackIsGoneAtOnce) {
  const std::int32_t id = client_->Call("/later", "question");
  Exchange();
  client_->Reset(id);
  const std::int32_t other = client_->Call("/later", "other");
  Exchange();
  EXPECT_EQ(service_.gone, 1);
  ASSERT_EQ(service_.calls.size(), 2U);
  Answer(1, "answer");  // its state may be that of the first
  Write();
  EXPECT_EQ(Heard(id).frames, 0);
  EXPECT_EQ(Heard(other).body, Framed("answer"));
  EXPECT_EQ(service_.gone, 2);
}

TEST_F(GrpcLateTest, CallsUnderWayAreAnsweredWhenTheServerLeaves) {
  const std::int32_t id = client_->Call("/later", "question");
  Exchange();
  connection_->GoAway();
  Write();
  EXPECT_EQ(client_->farewell(), NGHTTP2_NO_ERROR);
  EXPECT_FALSE(connection_->is_over());
  Answer(0, "answer");
  Write();
  EXPECT_EQ(Heard(id).body, Framed("answer"));
  EXPECT_TRUE(connection_->is_over());
}

TEST_F(GrpcLateTest, AsManyMayWaitAsThereMayBeCallsAndNotOneMore) {
  Restart({.streams = 10});
  Exchange();
  std::vector<std::int32_t> ids;
  for (int i = 0; i < 20; ++i) ids.push_back(client_->Call("/later", "x"));
  ExchangeAll();
  EXPECT_EQ(service_.calls.size(), 10U) << "the client knows, and keeps the others";
  for (std::size_t i = 0; i < 10; ++i) Answer(i, "y");
  Write();
  ExchangeAll();
  EXPECT_EQ(service_.calls.size(), 20U);
}

TEST_F(GrpcLateTest, WhoTakesBackAllItAsksIsTold) {
  for (int i = 0; i < 3'000 && !client_->farewell(); ++i) {
    const std::int32_t id = client_->Call("/later", "x");
    Exchange();
    client_->Reset(id);
    Exchange();
  }
  EXPECT_EQ(client_->farewell(), NGHTTP2_ENHANCE_YOUR_CALM);
}

TEST_F(GrpcLateTest, WhoIsAnsweredMayAskAsOftenAsItLikes) {
  for (int i = 0; i < 3'000; ++i) {
    const std::int32_t id = client_->Call("/later", "x");
    Exchange();
    Answer(service_.calls.size() - 1, "y");
    Write();
    EXPECT_EQ(Heard(id).field("grpc-status"), "0");
  }
  EXPECT_FALSE(client_->farewell());
}

}  // namespace
}  // namespace weir::wire
