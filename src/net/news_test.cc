// What a server tells its connections without being asked.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/net_harness.h"

namespace weir::net {
namespace {

using std::chrono::seconds;

TEST(NewsTest, IdleConnectionsAreToldAndGoOn) {
  NetHarness server({.handlers = EchoLines("news\n")});
  TestClient one = server.Connect();
  TestClient other = server.Connect();
  server.Settle();
  server.worker().TellNews();
  ASSERT_TRUE(server.TurnUntilReceived(one, "news\n"));
  ASSERT_TRUE(server.TurnUntilReceived(other, "news\n"));
  one.Send("hello\n");
  ASSERT_TRUE(server.TurnUntilReceived(one, "news\nhello\n"));
}

TEST(NewsTest, ARequestThatHasBegunIsNotLost) {
  NetHarness server({.handlers = EchoLines("news\n")});
  TestClient client = server.Connect();
  client.Send("hel");
  server.Settle();
  server.worker().TellNews();
  ASSERT_TRUE(server.TurnUntilReceived(client, "news\n"));
  client.Send("lo\n");
  ASSERT_TRUE(server.TurnUntilReceived(client, "news\nhello\n"));
}

TEST(NewsTest, WhoHasNothingToSayIsAsIdleAsItWas) {
  NetHarness server({.handlers = EchoLines(), .limits = {.idle = seconds(10)}});
  TestClient client = server.Connect();
  server.Settle();
  server.Advance(seconds(9));
  server.worker().TellNews();
  server.Settle();
  server.Advance(seconds(3));
  ASSERT_TRUE(server.TurnUntilEnded(client));
  EXPECT_EQ(server.closed_by(Ending::kIdle), 1U);
}

TEST(NewsTest, WhoDoesNotReadIsToldWhenItDoes) {
  const std::string much(std::size_t{32} << 20, 'x');
  NetHarness server(
      {.handlers = Scripted({.on_bytes =
                                 [&](std::string_view unread, Connection&, std::string& out) {
                                   out += much;
                                   return Progress{.consumed = unread.size()};
                                 },
                             .news = "news\n"})});
  TestClient client = server.Connect();
  client.Send("all of it\n");
  server.Settle();
  server.worker().TellNews();
  ASSERT_TRUE(server.TurnUntilReceived(client, much + "news\n"));
}

}  // namespace
}  // namespace weir::net
