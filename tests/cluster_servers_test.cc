// Whole servers that share a real Redis.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "authority/redis_script.h"
#include "server/running_server.h"
#include "tests/redis_cluster.h"
#include "tests/redis_server.h"
#include "tests/server_process.h"
#include "tests/shell.h"
#include "tests/temporary_file.h"

namespace weir {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kRules = R"(
namespace: default
rules:
  - {name: strict, match: {path: /strict}, by: [user], limit: 50/h, cluster: strict}
  - {name: window, match: {path: /window}, by: [user], limit: fixed_window 50/day, cluster: strict}
  - {name: lease, match: {path: /lease}, by: [user], limit: 50/h, cluster: lease}
  - {name: busy, match: {path: /busy}, by: [user], limit: 100000/10m, cluster: lease}
  - {name: closed, match: {path: /closed}, by: [user], limit: 50/h, cluster: strict, on_error: deny}
)";

class ClusterServersConcurrentTest : public testing::Test {
 protected:
  void Start(std::size_t count, const ClusterTold& cluster) {
    std::ofstream(rules_.path()) << kRules;
    for (std::size_t i = 0; i < count; ++i) {
      ServeOptions options;
      options.http = "127.0.0.1:0";
      options.resp = "127.0.0.1:0";
      options.grpc = "";
      options.admin = "";
      options.state = kStateInMemory;
      options.rules = rules_.path();
      options.max_keys = 1'000;
      options.threads = 2;
      options.cluster = cluster;
      options.cluster.deadline = "10s";  // how fast the machine is decides nothing
      Result<std::unique_ptr<RunningServer>> server = RunningServer::Start(options);
      ASSERT_TRUE(server.ok()) << server.error().message;
      servers_.push_back(std::move(*server));
    }
  }

  // How many of so many pass at one of the servers.
  int Passed(std::size_t server, const std::string& path, int asked) {
    BlockingClient client(servers_[server]->resp_address());
    std::string commands;
    for (int i = 0; i < asked; ++i) {
      commands += "WEIR.CHECK default path " + path + " user ann\r\n";
    }
    constexpr int kLines = 9;  // of an answer: the length of the rule's name is one
    const std::string answers = client.Ask(commands, kLines * asked);
    EXPECT_TRUE(client.is_open());
    int passed = 0;
    for (std::size_t at = answers.find("*7\r\n:1"); at != std::string::npos;
         at = answers.find("*7\r\n:1", at + 1)) {
      ++passed;
    }
    return passed;
  }
  int PassedInTurns(const std::string& path, int rounds, int asked) {
    int passed = 0;
    for (int round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < servers_.size(); ++i) passed += Passed(i, path, asked);
    }
    return passed;
  }

  TemporaryFile rules_;
  std::vector<std::unique_ptr<RunningServer>> servers_;
};

TEST_F(ClusterServersConcurrentTest, ThreeServersAdmitWhatOneLimitSays) {
  RedisServer redis;
  Start(3, {.redis = {redis.endpoint().ToString()}});
  EXPECT_EQ(PassedInTurns("/strict", 4, 10), 50);
  EXPECT_EQ(PassedInTurns("/window", 4, 10), 50);
  EXPECT_EQ(PassedInTurns("/lease", 4, 10), 50);
  EXPECT_EQ(Shell("curl -s " + servers_[0]->http_address() + "/metrics | grep -c ^weir_cluster_"),
            "7\n");
  // As many as there are, they end by themselves.
  const std::string keys = redis.Ask({"DBSIZE"});
  EXPECT_THAT(redis.Ask({"INFO", "keyspace"}), HasSubstr("keys=" + keys + ",expires=" + keys));
}

TEST_F(ClusterServersConcurrentTest, SoTheyDoOnARedisCluster) {
  RedisCluster redis;
  ClusterTold told{.redis = {}, .kind = "cluster"};
  for (const net::Endpoint& node : redis.endpoints()) told.redis.push_back(node.ToString());
  Start(3, told);
  EXPECT_EQ(PassedInTurns("/strict", 4, 10), 50);
  EXPECT_EQ(PassedInTurns("/lease", 4, 10), 50);
}

TEST_F(ClusterServersConcurrentTest, ABusyKeyIsDecidedInMemoryAndItsLimitHolds) {
  RedisServer redis;
  Start(3, {.redis = {redis.endpoint().ToString()}});
  // The burst is ten minutes' worth: nearly nothing flows in while this runs.
  int passed = PassedInTurns("/busy", 12, 3'000);
  // What some have at hand and do not need goes to the others, in its time.
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  while (passed < 99'500 && std::chrono::steady_clock::now() < until) {
    passed += PassedInTurns("/busy", 1, 1'000);
  }
  EXPECT_GE(passed, 99'500);
  EXPECT_LE(passed, 106'000) << "a twentieth of the burst may be sold ahead";
  const int asked = std::stoi(redis.Ask(
      {"EVAL", "return redis.call('INFO', 'commandstats'):match('evalsha:calls=(%d+)')", "0"}));
  EXPECT_LT(asked, passed / 10);
}

TEST_F(ClusterServersConcurrentTest, ARedisThatForgetsTheScriptsIsToldAgain) {
  RedisServer redis;
  Start(2, {.redis = {redis.endpoint().ToString()}});
  EXPECT_EQ(PassedInTurns("/strict", 1, 10), 20);
  EXPECT_EQ(redis.Ask({"SCRIPT", "FLUSH"}), "OK");
  EXPECT_EQ(PassedInTurns("/strict", 2, 10), 30);
}

TEST_F(ClusterServersConcurrentTest, WithoutRedisEachRuleDoesAsItSaysAndAfterwardsAsBefore) {
  RedisServer redis;
  Start(2, {.redis = {redis.endpoint().ToString()}});
  EXPECT_EQ(PassedInTurns("/closed", 1, 10), 20);
  redis.Kill();
  EXPECT_EQ(PassedInTurns("/closed", 1, 10), 0) << "on_error: deny";
  EXPECT_EQ(Passed(0, "/lease", 60), 50) << "on_error: local, of a key that nobody has used";
  redis.Start();
  // The circuit closes within seconds; until then nothing passes.
  int passed = 0;
  for (int tries = 0; tries < 200 && passed == 0; ++tries) {
    passed = Passed(0, "/closed", 1);
    Shell("sleep 0.1");
  }
  EXPECT_EQ(passed, 1);
}

TEST_F(ClusterServersConcurrentTest, AServerThatEndsGivesBackWhatItHolds) {
  RedisServer redis;
  Start(1, {.redis = {redis.endpoint().ToString()}});
  const auto reserved = [&] {
    const auto account = authority::ReadAccount(
        redis.Ask({"EVAL", "return redis.call('GET', redis.call('KEYS', '*busy*')[1])", "0"}));
    return account ? account->reserved + account->reserved_before : 0;
  };
  for (int tries = 0; tries < 100 && reserved() == 0; ++tries) Passed(0, "/busy", 100);
  EXPECT_GT(reserved(), 0U);
  servers_.clear();
  EXPECT_EQ(reserved(), 0U);
}

TEST_F(ClusterServersConcurrentTest, OverHttpToo) {
  RedisServer redis;
  Start(2, {.redis = {redis.endpoint().ToString()}});
  const std::string ask =
      "/v1/check -d '{\"namespace\":\"default\",\"attributes\":{\"path\":\"/strict\","
      "\"user\":\"ann\"},\"cost\":30}'";
  EXPECT_THAT(Shell("curl -s " + servers_[0]->http_address() + ask),
              StartsWith("{\"allowed\":true"));
  EXPECT_THAT(Shell("curl -s " + servers_[1]->http_address() + ask),
              StartsWith("{\"allowed\":false"));
}

TEST_F(ClusterServersConcurrentTest, WithoutARedisRulesThatShareAreRefusedAtTheStart) {
  std::ofstream(rules_.path()) << kRules;
  ServeOptions options;
  options.http = options.grpc = options.resp = options.admin = "";
  options.state = kStateInMemory;
  options.rules = rules_.path();
  const auto server = RunningServer::Start(options);
  ASSERT_FALSE(server.ok());
  EXPECT_THAT(server.error().message, HasSubstr("--redis"));
}

}  // namespace
}  // namespace weir
