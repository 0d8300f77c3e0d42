// What a server tells its connections without being asked.
#include <gtest/gtest.h>

#include "tests/net_harness.h"

namespace weir::net {
namespace {

HandlerFactory EchoLinesAndNews() {
  return Scripted({.on_bytes =
                       [](std::string_view unread, Connection&, std::string& out) {
                         return ForEachLine(unread, [&](std::string_view line) {
                           out += line;
                           return Progress{};
                         });
                       },
                   .news = "news\n"});
}

TEST(NewsTest, IdleConnectionsAreToldAndGoOn) {
  NetHarness server({.handlers = EchoLinesAndNews()});
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
  NetHarness server({.handlers = EchoLinesAndNews()});
  TestClient client = server.Connect();
  client.Send("hel");
  server.Settle();
  server.worker().TellNews();
  ASSERT_TRUE(server.TurnUntilReceived(client, "news\n"));
  client.Send("lo\n");
  ASSERT_TRUE(server.TurnUntilReceived(client, "news\nhello\n"));
}

TEST(NewsTest, WhoHasNothingToSayIsLeftAsItWas) {
  NetHarness server({.handlers = EchoLines()});
  TestClient client = server.Connect();
  client.Send("hel");
  server.Settle();
  server.worker().TellNews();
  client.Send("lo\n");
  ASSERT_TRUE(server.TurnUntilReceived(client, "hello\n"));
}

}  // namespace
}  // namespace weir::net
