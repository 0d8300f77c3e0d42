// The server as a whole: loops on threads, in real time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "net/server.h"
#include "tests/net_harness.h"
#include "tests/temporary_file.h"

namespace weir::net {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

// Waits in real time, since the server runs on threads of its own.
bool Await(const std::function<bool()>& is_so) {
  const auto end = std::chrono::steady_clock::now() + seconds(30);
  while (!is_so()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

bool AwaitReceived(TestClient& client, std::size_t bytes) {
  return Await([&] {
    client.Receive();
    return client.received().size() >= bytes || client.is_ended();
  });
}

TEST(ServerConcurrentTest, EveryClientGetsItsOwnAnswersFromWhicheverLoop) {
  const TemporaryFile file;
  const auto server = Server::Start({.loops = 3, .pinning = ServerOptions::Pinning::kOneCoreEach},
                                    {{.address = "127.0.0.1:0", .handlers = EchoLines()},
                                     {.address = "unix:" + file.path(), .handlers = EchoLines()}});
  ASSERT_TRUE(server.ok()) << server.error().message;
  constexpr int kClients = 8;
  constexpr int kRounds = 50;
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kClients; ++i) {
      threads.emplace_back([&, i] {
        TestClient client((*server)->endpoints()[static_cast<std::size_t>(i) % 2]);
        std::string expected;
        for (int round = 0; round < kRounds; ++round) {
          const std::string line = std::to_string(i) + ":" + std::to_string(round) + "\n";
          client.Send(line);
          expected += line;
          if (!AwaitReceived(client, expected.size())) return;
        }
        if (client.received() == expected) ++right;
      });
    }
  }
  EXPECT_EQ(right, kClients);
  EXPECT_TRUE(Await([&] { return (*server)->totals().open_now() == 0; }));
  EXPECT_EQ((*server)->totals().accepted, std::uint64_t{kClients});
  EXPECT_EQ((*server)->totals().bytes_in, (*server)->totals().bytes_out);
}

TEST(ServerConcurrentTest, StopAnswersWhatHasBeenAskedAndReturnsWhenAllIsOver) {
  const auto server =
      Server::Start({.loops = 2}, {{.address = "127.0.0.1:0", .handlers = EchoLines()}});
  ASSERT_TRUE(server.ok()) << server.error().message;
  const Endpoint endpoint = (*server)->endpoints().front();
  std::vector<TestClient> clients;
  for (int i = 0; i < 20; ++i) {
    clients.emplace_back(endpoint);
    clients.back().Send("asked\n");
  }
  (*server)->Stop(seconds(30));
  (*server)->Stop(seconds(30));
  for (TestClient& client : clients) {
    ASSERT_TRUE(AwaitReceived(client, 6));
    EXPECT_EQ(client.received(), "asked\n");
  }
  EXPECT_EQ((*server)->totals().open_now(), 0U);
  EXPECT_FALSE(TestClient(endpoint).is_connected());
}

TEST(ServerConcurrentTest, StopDoesNotWaitLongerThanItMay) {
  const auto server = Server::Start(
      {},
      {{.address = "127.0.0.1:0", .handlers = EchoLines(), .limits = {.request = seconds(60)}}});
  ASSERT_TRUE(server.ok()) << server.error().message;
  TestClient client((*server)->endpoints().front());
  client.Send("never finished");
  ASSERT_TRUE(Await([&] { return (*server)->totals().bytes_in > 0; }));
  (*server)->Stop(milliseconds(50));
  EXPECT_EQ((*server)->totals().closed_by(Ending::kServerCut), 1U);
}

TEST(ServerConcurrentTest, ClientsComeAndGoWhileItIsRunning) {
  auto server = Server::Start({.loops = 2}, {{.address = "127.0.0.1:0", .handlers = EchoLines()}});
  ASSERT_TRUE(server.ok()) << server.error().message;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        for (int round = 0; round < 100; ++round) {
          TestClient client((*server)->endpoints().front());
          client.Send("hello\n");
          EXPECT_TRUE(round % 3 != 0 || AwaitReceived(client, 6));
          if ((round + i) % 2 == 0) client.Reset();
        }
      });
    }
  }
  EXPECT_TRUE(Await([&] { return (*server)->totals().open_now() == 0; }));
  EXPECT_GE((*server)->totals().accepted, 200U);
}

TEST(ServerConcurrentTest, TheLimitOfConnectionsHoldsOverAllLoops) {
  const auto server = Server::Start({.loops = 3, .admission = {.connections = 10}},
                                    {{.address = "127.0.0.1:0", .handlers = EchoLines()}});
  ASSERT_TRUE(server.ok()) << server.error().message;
  std::vector<TestClient> clients;
  for (int i = 0; i < 30; ++i) clients.emplace_back((*server)->endpoints().front());
  ASSERT_TRUE(Await([&] { return (*server)->totals().accepted == 30; }));
  EXPECT_TRUE(Await([&] { return (*server)->totals().open_now() == 10; }));
  EXPECT_EQ((*server)->totals().closed_by(Ending::kTooManyConnections), 20U);
}

TEST(ServerConcurrentTest, SaysWhyItCannotStart) {
  EXPECT_THAT(Server::Start({.loops = 0}, {}).error().message, HasSubstr("at least one loop"));
  EXPECT_THAT(Server::Start({}, {{.address = "nonsense", .handlers = Echo()}}).error().message,
              HasSubstr("'nonsense' is no address to listen on"));
  const auto server = Server::Start({}, {{.address = "127.0.0.1:0", .handlers = Echo()}});
  const std::string taken = (*server)->endpoints().front().ToString();
  EXPECT_THAT(Server::Start({}, {{.address = taken, .handlers = Echo()}}).error().message,
              HasSubstr(taken + ": cannot listen: Address already in use"));
}

}  // namespace
}  // namespace weir::net
