// A server that is killed again and again while clients take as much as they can: nobody gets more
// than its limit, and what was counted is not forgotten. What is allowed does not depend on time:
// an hour of refill is less than one permit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/blocking_client.h"
#include "tests/server_process.h"
#include "tests/temporary_file.h"

namespace weir {
namespace {

constexpr int kRounds = 6;
constexpr int kClients = 6;  // half of them over HTTP
constexpr int kKeys = 4;
constexpr int kBurst = 3000;  // of each key; the rounds before the last are too short to use it up

struct Tally {
  std::atomic<int> allowed{0};
  std::atomic<int> refused{0};
  std::atomic<int> unknown{0};  // asked, and the server was killed before it answered
};
using Tallies = std::array<Tally, kKeys>;

// Takes from all keys in turn until the server has gone, or all of them have refused.
void TakeAll(const ServerProcess& server, bool over_http, Tallies& tallies) {
  BlockingClient client(over_http ? server.http_address() : server.resp_address());
  int refused_in_a_row = 0;
  for (int i = 0; client.is_open() && refused_in_a_row < kKeys; i = (i + 1) % kKeys) {
    const std::string user = std::to_string(i);
    const bool allowed = over_http ? client.AskHttp(user) : client.AskResp(user);
    if (!client.is_open()) {
      ++tallies[i].unknown;
    } else if (allowed) {
      ++tallies[i].allowed;
      refused_in_a_row = 0;
    } else {
      ++tallies[i].refused;
      ++refused_in_a_row;
    }
  }
}

class KilledServerConcurrentTest : public testing::TestWithParam<const char*> {};

TEST_P(KilledServerConcurrentTest, NobodyGetsMoreThanItsLimitAndNothingIsForgotten) {
  const TemporaryFile folder;
  ServeOptions options;
  options.http = "127.0.0.1:0";
  options.resp = "127.0.0.1:0";
  options.grpc = "";
  options.admin = "";
  options.state = folder.path();
  options.max_keys = 1000;
  options.threads = 2;
  options.rules = folder.path() + ".yaml";
  std::ofstream(options.rules) << "namespace: default\nrules:\n- {name: user, by: [user], "
                               << GetParam() << "}\n";
  Tallies tallies;
  std::minstd_rand random(std::random_device{}());
  std::array<int, kRounds> allowed_until{};
  for (int round = 0; round < kRounds; ++round) {
    ServerProcess server(options);
    ASSERT_THAT(server.http_address(), testing::StartsWith("127.0.0.1:"));
    const auto sum = [&] {
      int all = 0;
      for (const Tally& tally : tallies) all += tally.allowed;
      return all;
    };
    // Each round has its share; where in it the server is killed is left to chance.
    const int share = kKeys * kBurst / (2 * kRounds);
    const int enough = sum() + share / 2 + static_cast<int>(random() % (share / 2));
    {
      std::vector<std::jthread> clients;
      for (int i = 0; i < kClients; ++i) {
        clients.emplace_back([&, i] { TakeAll(server, i % 2 == 0, tallies); });
      }
      if (round + 1 < kRounds) {
        while (sum() < enough) std::this_thread::yield();
        server.Kill();
      }  // the last time they go on until everybody is refused
    }
    allowed_until[round] = sum();
  }
  for (int i = 1; i < kRounds; ++i) EXPECT_GT(allowed_until[i], allowed_until[i - 1]);
  for (const Tally& tally : tallies) {
    // What was taken and not answered cannot be told from what was not taken.
    EXPECT_LE(tally.allowed, kBurst);
    EXPECT_GE(tally.allowed + tally.unknown, kBurst);
    EXPECT_LE(tally.unknown, kClients * (kRounds - 1));
    EXPECT_GT(tally.refused, 0);
  }
}

// A word, a record with a journal, and several of them at once.
INSTANTIATE_TEST_SUITE_P(
    Limits, KilledServerConcurrentTest,
    testing::Values("limit: token_bucket 3000/1000000h", "limit: sliding_log 3000/1000000h",
                    "limits: [token_bucket 3000/1000000h, fixed_window 3000/1000000h]"));

}  // namespace
}  // namespace weir
