// What connections may use up: time, memory, and places.
#include <gtest/gtest.h>
#include <malloc.h>

#include "net/admission.h"
#include "tests/net_harness.h"

namespace weir::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

// Deadlines are met so late at most.
constexpr Nanos kLate = 2 * Deadlines::kTick;

class TimeoutTest : public testing::Test {
 protected:
  // Ticks as they would come.
  void Pass(Nanos time) {
    for (; time > milliseconds(100); time -= milliseconds(100)) server_.Advance(milliseconds(100));
    server_.Advance(time);
  }
  [[nodiscard]] bool IsEnded(TestClient& client) {
    server_.Settle();
    client.Receive();
    return client.is_ended();
  }

  NetHarness server_{
      {.handlers = EchoLines(), .limits = {.idle = seconds(60), .request = seconds(10)}}};
};

TEST_F(TimeoutTest, WhoSaysNothingIsClosed) {
  TestClient client = server_.Connect();
  server_.Settle();
  Pass(seconds(60) - Nanos(1));
  EXPECT_FALSE(IsEnded(client));
  Pass(kLate);
  EXPECT_TRUE(IsEnded(client));
  EXPECT_EQ(server_.closed_by(Ending::kIdle), 1U);
}

TEST_F(TimeoutTest, EachRequestStartsTheIdleTimeAnew) {
  TestClient client = server_.Connect();
  for (int i = 0; i < 5; ++i) {
    client.Send("ping\n");
    EXPECT_FALSE(IsEnded(client));
    Pass(seconds(50));
  }
  EXPECT_FALSE(IsEnded(client));
  Pass(seconds(10) + kLate);
  EXPECT_TRUE(IsEnded(client));
}

TEST_F(TimeoutTest, TricklingDoesNotProlongTheTimeOfARequest) {
  TestClient client = server_.Connect();
  for (int i = 0; i < 10; ++i) {
    client.Send("x");
    EXPECT_FALSE(IsEnded(client));
    Pass(i < 9 ? Nanos(seconds(1)) : seconds(1) - Nanos(1));
  }
  EXPECT_FALSE(IsEnded(client));
  Pass(kLate);
  EXPECT_TRUE(IsEnded(client));
  EXPECT_EQ(server_.closed_by(Ending::kSlowRequest), 1U);
}

TEST_F(TimeoutTest, TheNextRequestOfAPipelineHasATimeOfItsOwn) {
  TestClient client = server_.Connect();
  client.Send("beginning of the first");
  server_.Settle();
  Pass(seconds(9));
  client.Send(" and its end\nbeginning of the second");
  EXPECT_FALSE(IsEnded(client));
  Pass(seconds(9));
  EXPECT_FALSE(IsEnded(client));
  Pass(seconds(1) + kLate);
  EXPECT_TRUE(IsEnded(client));
}

TEST_F(TimeoutTest, ARequestThatIsConsumedInPiecesIsOneRequest) {
  NetHarness server({.handlers = Scripted({.on_bytes = [](std::string_view unread, Connection&,
                                                          std::string&) -> Progress {
                       return {.consumed = unread.size(), .in_request = true};
                     }}),
                     .limits = {.request = seconds(10)}});
  TestClient client = server.Connect();
  for (int i = 0; i < 10; ++i) {
    client.Send("piece");
    server.Settle();
    EXPECT_EQ(server.closed_by(Ending::kSlowRequest), 0U);
    server.Advance(seconds(1));
  }
  server.Advance(kLate);
  EXPECT_EQ(server.closed_by(Ending::kSlowRequest), 1U);
}

TEST_F(TimeoutTest, WhoDoesNotTakeAllOfItsAnswerIsClosed) {
  constexpr std::size_t kAnswer = 16 << 20;  // more than the kernel keeps
  NetHarness server({.handlers = Scripted({.on_bytes = [](std::string_view unread, Connection&,
                                                          std::string& out) -> Progress {
                       out.assign(kAnswer, 'x');
                       return {.consumed = unread.size()};
                     }}),
                     .limits = {.reading = seconds(20)}});
  TestClient takes_a_little = server.Connect();
  TestClient takes_all = server.Connect();
  takes_a_little.Send("go");
  takes_all.Send("go");
  server.Settle();
  server.Advance(seconds(20) - Nanos(1));
  takes_a_little.Receive(kAnswer / 2);
  EXPECT_TRUE(server.TurnUntil([&] {
    takes_all.Receive();
    return takes_all.received().size() == kAnswer;
  }));
  EXPECT_EQ(server.closed_by(Ending::kSlowReader), 0U);
  server.Advance(kLate);
  EXPECT_EQ(server.closed_by(Ending::kSlowReader), 1U);
  EXPECT_EQ(server.totals().open_now(), 1U);
}

TEST_F(TimeoutTest, AFarewellTakesNoLongerThanItMay) {
  NetHarness server({.handlers = Scripted({.on_bytes = [](std::string_view unread, Connection&,
                                                          std::string& out) -> Progress {
                       out += "bye";
                       return {.consumed = unread.size(), .next = Next::kClose};
                     }}),
                     .limits = {.farewell = seconds(2)}});
  TestClient client = server.Connect();
  client.Send("bye");
  ASSERT_TRUE(server.TurnUntilEnded(client));
  EXPECT_EQ(client.received(), "bye");
  server.Advance(seconds(2) - Nanos(1));
  EXPECT_EQ(server.totals().open_now(), 1U);
  server.Advance(kLate);
  EXPECT_EQ(server.totals().open_now(), 0U);
  EXPECT_EQ(server.closed_by(Ending::kHandlerClosed), 1U);
}

TEST(MemoryLimitTest, ARequestMayBeAsLongAsTheLimitAndNoLonger) {
  NetHarness server({.handlers = EchoLines(), .limits = {.unread_bytes = 1000}});
  TestClient fits = server.Connect();
  const std::string longest = std::string(999, 'x') + "\n";
  fits.Send(longest);
  EXPECT_TRUE(server.TurnUntilReceived(fits, longest));
  TestClient too_long = server.Connect();
  too_long.Send("short\n");
  EXPECT_TRUE(server.TurnUntilReceived(too_long, "short\n"));
  too_long.Send(std::string(1000, 'x') + "\n");
  EXPECT_TRUE(server.TurnUntilEnded(too_long));
  too_long.Close();
  EXPECT_TRUE(server.TurnUntil([&] { return server.closed_by(Ending::kRequestTooLarge) == 1; }));
}

TEST(MemoryLimitTest, AHandlerThatNeedsMoreThanTheLimitLosesItsConnection) {
  NetHarness server(
      {.handlers = Scripted({.on_bytes = [](std::string_view, Connection&,
                                            std::string&) -> Progress { return {.need = 1001}; }}),
       .limits = {.unread_bytes = 1000}});
  TestClient client = server.Connect();
  client.Send("x");
  EXPECT_TRUE(server.TurnUntilEnded(client));
}

// Most connections are idle most of the time. 2,000 that have talked before must not keep buffers.
TEST(MemoryLimitTest, IdleConnectionsCostLittle) {
  constexpr std::size_t kConnections = 2000;
  NetHarness server({.handlers = EchoLines()});
  std::vector<TestClient> clients;
  clients.reserve(kConnections);
  const auto talk = [&](TestClient& client) {
    client.Send(std::string(10'000, 'x'));
    server.worker().loop().Turn(Nanos(0));
    client.Send("\n");
    return server.TurnUntil([&] {
      client.Receive();
      return client.received().size() == 10'001;
    });
  };
  // The first one makes the buffers that all of them share.
  clients.push_back(server.Connect());
  ASSERT_TRUE(talk(clients.back()));
  std::size_t clients_own = 0;
  const std::size_t before = mallinfo2().uordblks;
  while (clients.size() < kConnections) {
    clients.push_back(server.Connect());
    ASSERT_TRUE(talk(clients.back()));
    clients_own += clients.back().received().capacity() + 1 + 16;
  }
  const std::size_t used = mallinfo2().uordblks - before - clients_own;
  const std::size_t each = mallinfo2().uordblks == 0 ? 0 : used / (kConnections - 1);
  RecordProperty("bytes_per_idle_connection", static_cast<int>(each));
  EXPECT_LT(each, 1024U);
  EXPECT_EQ(server.totals().open_now(), kConnections);
}

TEST(AdmissionTest, PlacesAreLimitedInAllAndPerPeer) {
  Admission admission({.connections = 3, .connections_per_peer = 2});
  const rule::Address peer = *rule::Address::Parse("192.0.2.1");
  const rule::Address other = *rule::Address::Parse("192.0.2.2");
  EXPECT_TRUE(admission.Enter());
  EXPECT_TRUE(admission.Enter());
  EXPECT_TRUE(admission.Enter());
  EXPECT_FALSE(admission.Enter());
  admission.Leave();
  EXPECT_TRUE(admission.Enter());
  EXPECT_TRUE(admission.EnterFrom(peer));
  EXPECT_TRUE(admission.EnterFrom(peer));
  EXPECT_FALSE(admission.EnterFrom(peer));
  EXPECT_TRUE(admission.EnterFrom(other));
  admission.LeaveFrom(peer);
  EXPECT_TRUE(admission.EnterFrom(peer));
}

TEST(AdmissionTest, AnIPv6PeerIsItsNetworkOf64Bits) {
  Admission admission({.connections = 10, .connections_per_peer = 1});
  EXPECT_TRUE(admission.EnterFrom(*rule::Address::Parse("2001:db8::1")));
  EXPECT_FALSE(admission.EnterFrom(*rule::Address::Parse("2001:db8::2:3:4:5")));
  EXPECT_TRUE(admission.EnterFrom(*rule::Address::Parse("2001:db8:0:1::1")));
}

TEST(AdmissionTest, OneConnectionTooManyIsClosedAndAPlaceThatIsLeftIsTakenAgain) {
  NetHarness server({.handlers = EchoLines()}, {.connections = 2});
  TestClient one = server.Connect();
  const TestClient two = server.Connect();
  server.Settle();
  TestClient three = server.Connect();
  EXPECT_TRUE(server.TurnUntilEnded(three));
  EXPECT_EQ(server.closed_by(Ending::kTooManyConnections), 1U);
  one.Close();
  server.Settle();
  TestClient four = server.Connect();
  four.Send("in\n");
  EXPECT_TRUE(server.TurnUntilReceived(four, "in\n"));
}

TEST(AdmissionTest, OneConnectionTooManyOfAPeerIsClosed) {
  NetHarness server({.handlers = EchoLines()}, {.connections_per_peer = 1});
  TestClient one = server.Connect();
  server.Settle();
  TestClient two = server.Connect();
  EXPECT_TRUE(server.TurnUntilEnded(two));
  EXPECT_EQ(server.closed_by(Ending::kTooManyFromPeer), 1U);
  one.Send("still here\n");
  EXPECT_TRUE(server.TurnUntilReceived(one, "still here\n"));
}

}  // namespace
}  // namespace weir::net
