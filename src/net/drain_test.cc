// How a worker stops.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>

#include "tests/net_harness.h"

namespace weir::net {
namespace {

using std::chrono::seconds;

TEST(DrainTest, IdleConnectionsAreClosedAndNoNewOnesAccepted) {
  NetHarness server({.handlers = EchoLines()});
  TestClient client = server.Connect();
  client.Send("hello\n");
  ASSERT_TRUE(server.TurnUntilReceived(client, "hello\n"));
  server.worker().Stop(seconds(10));
  ASSERT_TRUE(server.TurnUntilEnded(client));
  EXPECT_FALSE(client.is_reset());
  EXPECT_EQ(server.closed_by(Ending::kServerStopped), 1U);
  server.worker().Run();  // has nothing left to do
}

TEST(DrainTest, ARequestThatTheLoopHasNotSeenYetIsAnswered) {
  NetHarness server({.handlers = EchoLines()});
  TestClient old = server.Connect();
  server.Settle();
  old.Send("from one who is connected\n");
  TestClient fresh = server.Connect();
  fresh.Send("from one who is not accepted yet\n");
  server.worker().Stop(seconds(10));
  server.worker().Run();
  old.Receive();
  fresh.Receive();
  EXPECT_EQ(old.received(), "from one who is connected\n");
  EXPECT_EQ(fresh.received(), "from one who is not accepted yet\n");
  EXPECT_TRUE(old.is_ended() && fresh.is_ended());
}

TEST(DrainTest, ARequestThatHasBegunMayBeFinished) {
  NetHarness server({.handlers = EchoLines()});
  TestClient client = server.Connect();
  client.Send("begun ");
  server.Settle();
  server.worker().Stop(seconds(10));
  server.Settle();
  client.Send("and finished\n");
  ASSERT_TRUE(server.TurnUntilEnded(client));
  EXPECT_EQ(client.received(), "begun and finished\n");
  EXPECT_EQ(server.closed_by(Ending::kServerStopped), 1U);
}

// Notes when it is told to leave, and leaves when the test says so.
struct Lodger final : Companion {
  explicit Lodger(std::function<void()>& leave) : leave_(leave) {}
  void Leave(std::function<void()> done) override { leave_ = std::move(done); }

 private:
  std::function<void()>& leave_;
};

TEST(DrainTest, ACompanionLeavesAfterTheLastConnectionAndIsWaitedFor) {
  NetHarness server({.handlers = EchoLines()});
  std::function<void()> leave;
  server.worker().Keep(std::make_unique<Lodger>(leave));
  TestClient client = server.Connect();
  client.Send("begun ");
  server.Settle();
  server.worker().Stop(seconds(10));
  server.Settle();
  EXPECT_FALSE(leave) << "a connection may need it";
  client.Send("and finished\n");
  ASSERT_TRUE(server.TurnUntilEnded(client));
  ASSERT_TRUE(server.TurnUntil([&] { return static_cast<bool>(leave); }));
  leave();
  server.worker().Run();  // has nothing left to do
}

TEST(DrainTest, ACompanionThatDoesNotLeaveIsLeft) {
  NetHarness server({.handlers = EchoLines()});
  std::function<void()> leave;
  server.worker().Keep(std::make_unique<Lodger>(leave));
  server.worker().Stop(seconds(10));
  ASSERT_TRUE(server.TurnUntil([&] { return static_cast<bool>(leave); }));
  server.Advance(seconds(1));
  server.worker().Run();  // has nothing left to do
}

TEST(DrainTest, WhoIsIdleIsToldBeforeItIsClosed) {
  for (const bool is_stopped : {true, false}) {
    NetHarness server({.handlers = Scripted({.on_bytes = [](std::string_view unread, Connection&,
                                                            std::string&) -> Progress {
                                               return {.consumed = unread.size()};
                                             },
                                             .farewell = "bye"}),
                       .limits = {.idle = seconds(60)}});
    TestClient client = server.Connect();
    client.Send("x");
    server.Settle();
    if (is_stopped) {
      server.worker().Stop(seconds(10));
    } else {
      server.Advance(seconds(61));
    }
    ASSERT_TRUE(server.TurnUntilEnded(client));
    EXPECT_EQ(client.received(), "bye");
    client.Close();
    const Ending ending = is_stopped ? Ending::kServerStopped : Ending::kIdle;
    EXPECT_TRUE(server.TurnUntil([&] { return server.closed_by(ending) == 1; }));
  }
}

TEST(DrainTest, WhatIsHeldIsAnsweredInItsTime) {
  NetHarness server(
      {.handlers = Scripted({.on_bytes = [](std::string_view unread, Connection& connection,
                                            std::string&) -> Progress {
                               connection.Hold(seconds(5));
                               return {.consumed = unread.size()};
                             },
                             .on_resume =
                                 [](Connection& connection, std::string& out) {
                                   out += connection.is_draining() ? "bye" : "late";
                                   return Next::kRead;
                                 }})});
  TestClient client = server.Connect();
  client.Send("x");
  server.Settle();
  server.worker().Stop(seconds(10));
  server.Settle();
  EXPECT_EQ(server.totals().open_now(), 1U);
  server.Advance(seconds(5));
  ASSERT_TRUE(server.TurnUntilEnded(client));
  EXPECT_EQ(client.received(), "bye");
}

TEST(DrainTest, WhoIsNotFinishedInTimeIsCutOff) {
  int gone = 0;
  NetHarness server(
      {.handlers = Scripted({.on_bytes = [](std::string_view unread, Connection& connection,
                                            std::string&) -> Progress {
                               if (unread == "hold") connection.Hold(seconds(60));
                               return {};
                             },
                             .on_gone = [&] { ++gone; }}),
       .limits = {.request = seconds(60)}});
  TestClient begun = server.Connect();
  TestClient held = server.Connect();
  begun.Send("begun");
  held.Send("hold");
  server.Settle();
  server.worker().Stop(seconds(10));
  server.Settle();
  server.Advance(seconds(10) - Nanos(1));
  EXPECT_EQ(server.totals().open_now(), 2U);
  server.Advance(Nanos(1));
  EXPECT_EQ(server.closed_by(Ending::kServerCut), 2U);
  EXPECT_EQ(gone, 1);
  EXPECT_TRUE(server.TurnUntilEnded(begun));
}

}  // namespace
}  // namespace weir::net
