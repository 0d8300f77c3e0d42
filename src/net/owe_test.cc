// Connection::Owe(): answers that come late and keep nobody waiting.
#include <gtest/gtest.h>

#include "tests/net_harness.h"

namespace weir::net {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

// Answers lines with themselves at once; a line "later ..." when it is woken.
class OwingHandler final : public Handler {
 public:
  struct Seen {
    Connection* connection = nullptr;
    int gone = 0;
  };
  explicit OwingHandler(Seen& seen) : seen_(seen) {}
  Progress OnBytes(std::string_view unread, Connection& connection, std::string& out) override {
    seen_.connection = &connection;
    const Progress progress = ForEachLine(unread, [&](std::string_view line) -> Progress {
      (line.starts_with("later") ? late_ : out) += line;
      if (line == "large\n") out += std::string(8 << 20, 'x');
      return {};
    });
    if (!late_.empty()) connection.Owe();
    return progress;
  }
  Next OnResume(Connection& /*connection*/, std::string& out) override {
    const bool is_last = late_ == "later bye\n";
    out += late_;
    late_.clear();
    return is_last ? Next::kClose : Next::kRead;
  }
  void OnGone(Connection& /*connection*/) override { ++seen_.gone; }

 private:
  Seen& seen_;
  std::string late_;
};

class OweTest : public testing::Test {
 protected:
  OwingHandler::Seen seen_;
  NetHarness server_{
      {.handlers = [this](const ConnectionFacts&) { return std::make_unique<OwingHandler>(seen_); },
       .limits = {.idle = seconds(10)}}};
};

TEST_F(OweTest, OthersAreAnsweredMeanwhile) {
  TestClient client = server_.Connect();
  client.Send("later 1\nfirst\n");
  EXPECT_TRUE(server_.TurnUntilReceived(client, "first\n"));
  client.Send("second\n");
  EXPECT_TRUE(server_.TurnUntilReceived(client, "first\nsecond\n"));
  seen_.connection->Wake();
  EXPECT_TRUE(server_.TurnUntilReceived(client, "first\nsecond\nlater 1\n"));
  seen_.connection->Wake();  // nothing is owed any more
  client.Send("third\n");
  EXPECT_TRUE(server_.TurnUntilReceived(client, "first\nsecond\nlater 1\nthird\n"));
  EXPECT_EQ(seen_.gone, 0);
}

TEST_F(OweTest, AConnectionThatOwesIsNotIdle) {
  TestClient client = server_.Connect();
  client.Send("later\n");
  server_.Settle();
  server_.Advance(hours(1));
  server_.Settle();
  client.Receive();
  EXPECT_FALSE(client.is_ended());
  seen_.connection->Wake();
  EXPECT_TRUE(server_.TurnUntilReceived(client, "later\n"));
  server_.Advance(seconds(11));
  EXPECT_TRUE(server_.TurnUntilEnded(client));
}

TEST_F(OweTest, ARequestThatIsNotCompleteStaysSo) {
  TestClient client = server_.Connect();
  client.Send("later\n");
  client.Send("half of ");
  server_.Settle();
  seen_.connection->Wake();
  EXPECT_TRUE(server_.TurnUntilReceived(client, "later\n"));
  client.Send("it\n");
  EXPECT_TRUE(server_.TurnUntilReceived(client, "later\nhalf of it\n"));
}

TEST_F(OweTest, WhatIsOwedComesBehindWhatThePeerHasNotRead) {
  TestClient client = server_.Connect();
  client.Send("later\n");
  server_.Settle();
  client.Send("large\n");
  server_.Settle();
  seen_.connection->Wake();
  EXPECT_TRUE(server_.TurnUntilReceived(client, "large\n" + std::string(8 << 20, 'x') + "later\n"));
}

TEST_F(OweTest, ThePeerThatGoesIsToldOfOnce) {
  TestClient client = server_.Connect();
  client.Send("later\n");
  server_.Settle();
  client.Close();
  EXPECT_TRUE(server_.TurnUntil([&] { return seen_.gone == 1; }));
  server_.Settle();
  EXPECT_EQ(seen_.gone, 1);
}

TEST_F(OweTest, AServerThatStopsPaysFirst) {
  TestClient client = server_.Connect();
  client.Send("later\n");
  server_.Settle();
  server_.worker().Stop(seconds(10));
  server_.Settle();
  client.Receive();
  EXPECT_FALSE(client.is_ended());
  seen_.connection->Wake();
  EXPECT_TRUE(server_.TurnUntilEnded(client));
  EXPECT_EQ(client.received(), "later\n");
}

TEST_F(OweTest, TheLateAnswerMayBeTheLast) {
  TestClient client = server_.Connect();
  client.Send("later bye\n");
  server_.Settle();
  seen_.connection->Wake();
  ASSERT_TRUE(server_.TurnUntilEnded(client));
  EXPECT_EQ(client.received(), "later bye\n");
}

}  // namespace
}  // namespace weir::net
