// Connection::Hold(): answers that come late, in order, or never.
#include <gtest/gtest.h>

#include "tests/net_harness.h"
#include "tests/temporary_file.h"

namespace weir::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Answers lines with themselves; a line "later ..." one second late.
class LateHandler final : public Handler {
 public:
  explicit LateHandler(int& gone) : gone_(gone) {}
  Progress OnBytes(std::string_view unread, Connection& connection, std::string& out) override {
    return ForEachLine(unread, [&](std::string_view line) -> Progress {
      if (line.substr(0, 5) != "later") {
        out += line;
        return {};
      }
      late_ = line;
      connection.Hold(seconds(1));
      return {.next = Next::kAgain};
    });
  }
  Next OnResume(Connection& /*connection*/, std::string& out) override {
    out += late_;
    return late_ == "later bye\n" ? Next::kClose : Next::kAgain;
  }
  void OnGone(Connection& /*connection*/) override { ++gone_; }

 private:
  int& gone_;
  std::string late_;
};

class HoldTest : public testing::Test {
 protected:
  int gone_ = 0;
  HandlerFactory late_ = [this](const ConnectionFacts&) {
    return std::make_unique<LateHandler>(gone_);
  };
  NetHarness server_{{.handlers = late_}};
};

TEST_F(HoldTest, TheAnswerComesWhenTheTimeIsOverAndWhatFollowsAfterIt) {
  TestClient client = server_.Connect();
  client.Send("first\nlater\nsecond\n");
  EXPECT_TRUE(server_.TurnUntilReceived(client, "first\n"));
  client.Send("third\n");
  server_.Advance(seconds(1) - Nanos(1));
  server_.Settle();
  client.Receive();
  EXPECT_EQ(client.received(), "first\n");
  server_.Advance(Nanos(1));
  EXPECT_TRUE(server_.TurnUntilReceived(client, "first\nlater\nsecond\nthird\n"));
  EXPECT_EQ(gone_, 0);
}

TEST_F(HoldTest, HoldsFollowEachOther) {
  TestClient client = server_.Connect();
  client.Send("later 1\nlater 2\nend\n");
  server_.Settle();
  server_.Advance(seconds(1));
  EXPECT_TRUE(server_.TurnUntilReceived(client, "later 1\n"));
  server_.Advance(seconds(1));
  EXPECT_TRUE(server_.TurnUntilReceived(client, "later 1\nlater 2\nend\n"));
}

TEST_F(HoldTest, AHoldKeepsNobodyElseWaiting) {
  const TestClient held = server_.Connect();
  TestClient other = server_.Connect();
  held.Send("later\n");
  other.Send("now\n");
  EXPECT_TRUE(server_.TurnUntilReceived(other, "now\n"));
}

// Answers lines with themselves when it is told to, and until then holds.
class WokenHandler final : public Handler {
 public:
  explicit WokenHandler(std::vector<Connection*>& held) : held_(held) {}
  Progress OnBytes(std::string_view unread, Connection& connection, std::string& /*out*/) override {
    return ForEachLine(unread, [&](std::string_view line) -> Progress {
      line_ = line;
      held_.push_back(&connection);
      connection.HoldUntilWoken();
      return {.next = Next::kAgain};
    });
  }
  Next OnResume(Connection& /*connection*/, std::string& out) override {
    out += line_;
    return Next::kAgain;
  }

 private:
  std::vector<Connection*>& held_;
  std::string line_;
};

TEST(HoldUntilWokenTest, TheAnswerComesWhenSomebodyWakesItAndNotBefore) {
  std::vector<Connection*> held;
  NetHarness server(
      {.handlers = [&](const ConnectionFacts&) { return std::make_unique<WokenHandler>(held); }});
  TestClient client = server.Connect();
  client.Send("first\nsecond\n");
  server.Settle();
  server.Advance(std::chrono::hours(1));
  server.Settle();
  client.Receive();
  EXPECT_EQ(client.received(), "");
  ASSERT_EQ(held.size(), 1U);
  held[0]->Wake();
  EXPECT_TRUE(server.TurnUntilReceived(client, "first\n"));
  ASSERT_EQ(held.size(), 2U) << "the second is held in its turn";
  held[1]->Wake();
  EXPECT_TRUE(server.TurnUntilReceived(client, "first\nsecond\n"));
  held[1]->Wake();  // nobody waits any more
  server.Settle();
}

TEST_F(HoldTest, TheLateAnswerMayBeTheLast) {
  TestClient client = server_.Connect();
  client.Send("later bye\nnot handled\n");
  server_.Settle();
  server_.Advance(seconds(1));
  ASSERT_TRUE(server_.TurnUntilEnded(client));
  EXPECT_EQ(client.received(), "later bye\n");
}

TEST_F(HoldTest, APeerThatClosesMeanwhileHasGone) {
  TestClient closing = server_.Connect();
  TestClient resetting = server_.Connect();
  closing.Send("later\n");
  resetting.Send("later\n");
  server_.Settle();
  EXPECT_EQ(gone_, 0);
  closing.Close();
  EXPECT_TRUE(server_.TurnUntil([&] { return gone_ == 1; }));
  resetting.Reset();
  EXPECT_TRUE(server_.TurnUntil([&] { return gone_ == 2; }));
  EXPECT_EQ(server_.totals().open_now(), 0U);
}

TEST_F(HoldTest, APeerThatClosesAUnixSocketHasGone) {
  const TemporaryFile file;
  NetHarness server({.address = "unix:" + file.path(), .handlers = late_});
  TestClient client = server.Connect();
  client.Send("later\n");
  server.Settle();
  EXPECT_EQ(gone_, 0);
  client.Close();
  EXPECT_TRUE(server.TurnUntil([&] { return gone_ == 1; }));
}

TEST_F(HoldTest, AClientThatHadClosedItsSideBeforeGetsItsLateAnswer) {
  TestClient client = server_.Connect();
  client.Send("later\n");
  client.HalfClose();  // before the server looks
  server_.Settle();
  EXPECT_EQ(gone_, 0);
  server_.Advance(seconds(1));
  ASSERT_TRUE(server_.TurnUntilEnded(client));
  EXPECT_EQ(client.received(), "later\n");
  EXPECT_EQ(gone_, 0);
}

TEST_F(HoldTest, ATimeoutDoesNotEndAHold) {
  NetHarness server(
      {.handlers = late_, .limits = {.idle = milliseconds(200), .request = milliseconds(200)}});
  TestClient client = server.Connect();
  client.Send("later\nrest of a requ");
  server.Settle();
  for (int i = 0; i < 10; ++i) server.Advance(milliseconds(100));
  EXPECT_TRUE(server.TurnUntilReceived(client, "later\n"));
}

TEST_F(HoldTest, ThereIsNoOtherCallWhileItLasts) {
  int calls = 0;
  NetHarness server(
      {.handlers = Scripted({.on_bytes = [&](std::string_view unread, Connection& connection,
                                             std::string&) -> Progress {
         ++calls;
         connection.Hold(seconds(1));
         return {.consumed = unread.size()};
       }})});
  TestClient client = server.Connect();
  client.Send("a");
  server.Settle();
  client.Send("b");
  server.Settle();
  EXPECT_EQ(calls, 1);
  server.Advance(seconds(1));
  EXPECT_TRUE(server.TurnUntil([&] { return calls == 2; }));
}

TEST_F(HoldTest, WhatIsHeldWhenTheServerGoesHasGoneToo) {
  {
    NetHarness server({.handlers = late_});
    const TestClient client = server.Connect();
    client.Send("later\n");
    server.Settle();
  }
  EXPECT_EQ(gone_, 1);
}

}  // namespace
}  // namespace weir::net
