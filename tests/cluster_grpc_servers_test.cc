// Whole servers that share a real Redis, asked by descriptors over gRPC and in JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "server/running_server.h"
#include "tests/redis_server.h"
#include "tests/shell.h"
#include "tests/temporary_file.h"

namespace weir {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ClusterGrpcServersConcurrentTest : public testing::Test {
 protected:
  void Start(std::size_t count, const std::string& rules) {
    std::ofstream(rules_.path()) << rules;
    for (std::size_t i = 0; i < count; ++i) {
      ServeOptions options;
      options.http = "127.0.0.1:0";
      options.grpc = "127.0.0.1:0";
      options.resp = options.admin = "";
      options.state = kStateInMemory;
      options.rules = rules_.path();
      options.max_keys = 1'000;
      options.threads = 2;
      options.cluster.redis = {redis_.endpoint().ToString()};
      options.cluster.deadline = "10s";  // how fast the machine is decides nothing
      Result<std::unique_ptr<RunningServer>> server = RunningServer::Start(options);
      ASSERT_TRUE(server.ok()) << server.error().message;
      servers_.push_back(std::move(*server));
    }
  }
  static std::string Ask(const std::string& key, const std::string& value,
                         const std::string& more = "") {
    return R"({"domain": "shop", "descriptors": [{"entries": [{"key": ")" + key +
           R"(", "value": ")" + value + R"("}])" + more + "}]}";
  }
  // How many of so many calls of gRPC's own client pass at one of the servers.
  int Passed(std::size_t server, const std::string& ask, int asked) {
    std::string command = "/usr/bin/python3 " WEIR_SOURCE_DIR "/tests/grpc_client.py " +
                          servers_[server]->grpc_address() +
                          " call envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit";
    for (int i = 0; i < asked; ++i) command += " '" + ask + "'";
    const std::string answers = Shell(command);
    int passed = 0;
    int answered = 0;
    for (std::size_t at = answers.find("overallCode"); at != std::string::npos;
         at = answers.find("overallCode", at + 1)) {
      ++answered;
      if (answers.substr(at, 17) == "overallCode\": \"OK") ++passed;
    }
    EXPECT_EQ(answered, asked) << answers;
    return passed;
  }

  RedisServer redis_;
  TemporaryFile rules_;
  std::vector<std::unique_ptr<RunningServer>> servers_;
};

TEST_F(ClusterGrpcServersConcurrentTest, TwoServersAdmitWhatOneLimitSays) {
  Start(2, R"(
namespace: shop
rules:
  - {name: window, descriptor: [{key: user}], limit: fixed_window 12/day count_denied, cluster: strict}
  - {name: log, descriptor: [{key: path}], limit: sliding_log 12/h, cluster: strict}
  - {name: bucket, descriptor: [{key: host}], limit: 12/h, cluster: strict}
)");
  for (const char* key : {"user", "path", "host"}) {
    EXPECT_EQ(Passed(0, Ask(key, "ann"), 10) + Passed(1, Ask(key, "ann"), 10), 12) << key;
    EXPECT_EQ(Passed(1, Ask(key, "bob"), 3), 3) << key;
  }
  // As many as there are, they end by themselves.
  const std::string keys = redis_.Ask({"DBSIZE"});
  EXPECT_THAT(redis_.Ask({"INFO", "keyspace"}), HasSubstr("keys=" + keys + ",expires=" + keys));
  EXPECT_THAT(Shell("curl -s " + servers_[0]->http_address() +
                    "/metrics | grep 'weir_cluster_decisions_total{by=\"store\"}'"),
              testing::Not(HasSubstr("} 0\n")));
}

TEST_F(ClusterGrpcServersConcurrentTest, FilesOfEnvoysRateLimitServiceAreShared) {
  Start(2, R"(
domain: shop
descriptors:
  - key: user
    rate_limit: {unit: day, requests_per_unit: 7}
)");
  EXPECT_EQ(Passed(0, Ask("user", "ann"), 5) + Passed(1, Ask("user", "ann"), 5), 7);
  const std::string limit = R"(, "limit": {"requests_per_unit": 3, "unit": "DAY"})";
  EXPECT_EQ(Passed(0, Ask("own", "ann", limit), 2) + Passed(1, Ask("own", "ann", limit), 2), 3)
      << "a limit that comes with the request";
  // The same in JSON.
  const std::string ask = "curl -s -d '" + Ask("user", "bob") + "' ";
  for (std::size_t i = 0; i < 7; ++i) {
    EXPECT_THAT(Shell(ask + servers_[i % 2]->http_address() + "/json"),
                StartsWith(R"({"overallCode":"OK")"));
  }
  EXPECT_THAT(Shell(ask + servers_[0]->http_address() + "/json"),
              StartsWith(R"({"overallCode":"OVER_LIMIT")"));
}

TEST_F(ClusterGrpcServersConcurrentTest, EveryCallOfManyStreamsIsAnswered) {
  Start(1, R"(
domain: shop
descriptors:
  - key: user
    rate_limit: {unit: day, requests_per_unit: 100}
)");
  const std::string body = rules_.path() + ".body";
  std::ofstream(body, std::ios::binary) << std::string(
      "\0\0\0\0\x15\x0a\x04shop\x12\x0d\x0a\x0b\x0a"
      "\x04user\x12\x03"
      "bob",
      26);
  const std::string printed = Shell(
      "h2load -n 5000 -c 5 -m 100 -t 1 -d " + body +
      " -H 'content-type: application/grpc' -H 'te: trailers' http://" +
      servers_[0]->grpc_address() + "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit");
  EXPECT_THAT(printed, HasSubstr("5000 succeeded, 0 failed, 0 errored, 0 timeout"));
  EXPECT_EQ(Passed(0, Ask("user", "bob"), 1), 0);
}

}  // namespace
}  // namespace weir
