#include "net/connection.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "tests/net_harness.h"
#include "tests/temporary_file.h"

namespace weir::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(ConnectionTest, EchoesOverTcp) {
  NetHarness server({.handlers = Echo()});
  TestClient client = server.Connect();
  client.Send("hello");
  EXPECT_TRUE(server.TurnUntilReceived(client, "hello"));
  client.Send(", world");
  EXPECT_TRUE(server.TurnUntilReceived(client, "hello, world"));
  EXPECT_EQ(server.totals().accepted, 1U);
  EXPECT_EQ(server.totals().open_now(), 1U);
  EXPECT_EQ(server.totals().bytes_in, 12U);
  EXPECT_EQ(server.totals().bytes_out, 12U);
  client.Close();
  EXPECT_TRUE(server.TurnUntil([&] { return server.closed_by(Ending::kPeerClosed) == 1; }));
  EXPECT_EQ(server.totals().open_now(), 0U);
}

}  // namespace
}  // namespace weir::net
