#include "frontend/handlers.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "limiter/ledger.h"
#include "tests/grpc_test_client.h"
#include "tests/net_harness.h"

namespace weir {
namespace {

TEST(GrpcHandlersTest, ACallThatTheLoopHasNotSeenYetIsAnsweredWhenTheServerStops) {
  Checker checker(Ledger::Open({.max_keys = 1000}).value(), CheckerOptions{});
  const GrpcOptions options;
  const Clusters clusters;
  net::NetHarness server({.handlers = GrpcHandlers(checker, options, clusters)});
  net::TestClient socket = server.Connect();
  GrpcTestClient client;
  const std::int32_t first = client.Call("/grpc.health.v1.Health/Check", "");
  socket.Send(client.Bytes());
  server.Settle();
  const std::int32_t second = client.Call("/grpc.health.v1.Health/Check", "");
  socket.Send(client.Bytes());
  server.worker().Stop(std::chrono::seconds(10));
  EXPECT_TRUE(server.TurnUntilEnded(socket));
  client.Hear(socket.received());
  EXPECT_EQ(client.heard(first).field("grpc-status"), "0");
  EXPECT_EQ(client.heard(second).field("grpc-status"), "0");
  EXPECT_EQ(client.farewell(), NGHTTP2_NO_ERROR);
}

}  // namespace
}  // namespace weir
