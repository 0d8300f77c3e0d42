// The whole server, asked by gRPC's own client, which learns what to ask from reflection, and by
// nghttp2's load generator.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "server/running_server.h"
#include "tests/temporary_file.h"

namespace weir {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string Shell(const std::string& command) {
  std::string printed;
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::array<char, 4096> block{};
  while (const std::size_t got = std::fread(block.data(), 1, block.size(), pipe)) {
    printed.append(block.data(), got);
  }
  pclose(pipe);
  return printed;
}

constexpr std::string_view kRules = R"(
domain: shop
descriptors:
  - key: user
    rate_limit: {unit: day, requests_per_unit: 2}
)";
constexpr std::string_view kAsk =
    R"('{"domain": "shop", "descriptors": [{"entries": [{"key": "user", "value": "ann"}]}]}')";

class GrpcServerConcurrentTest : public testing::Test {
 protected:
  void Start(const std::string& address) {
    std::ofstream(folder_.path() + ".yaml") << kRules;
    ServeOptions options;
    options.http = options.resp = "";
    options.grpc = address;
    options.admin = "";
    options.rules = folder_.path() + ".yaml";
    options.state = "memory";
    options.max_keys = 10'000;
    options.threads = 2;
    Result<std::unique_ptr<RunningServer>> server = RunningServer::Start(options);
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
  }
  [[nodiscard]] std::string Client(const std::string& rest,
                                   const std::string& environment = "") const {
    return Shell(environment + " /usr/bin/python3 " WEIR_SOURCE_DIR "/tests/grpc_client.py " +
                 server_->grpc_address() + " " + rest);
  }
  void ExpectAnAllowanceOfTwo() const {
    const std::string answers =
        Client("call envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit " +
               std::string(kAsk) + " " + std::string(kAsk) + " " + std::string(kAsk));
    const std::size_t second = answers.find('\n');
    const std::size_t third = answers.find('\n', second + 1);
    EXPECT_THAT(answers, StartsWith(R"({"overallCode": "OK", )"));
    EXPECT_THAT(answers.substr(0, second), HasSubstr(R"("limitRemaining": 1)"));
    EXPECT_THAT(answers.substr(0, second),
                HasSubstr(R"("currentLimit": {"requestsPerUnit": 2, "unit": "DAY"})"));
    EXPECT_THAT(answers.substr(second + 1), StartsWith(R"({"overallCode": "OK", )"));
    EXPECT_THAT(answers.substr(third + 1), StartsWith(R"({"overallCode": "OVER_LIMIT", )"));
  }

  TemporaryFile folder_;
  std::unique_ptr<RunningServer> server_;
};

TEST_F(GrpcServerConcurrentTest, AClientThatKnowsNothingLearnsToAskAndIsLimited) {
  Start("127.0.0.1:0");
  EXPECT_THAT(server_->Banner(), StartsWith("gRPC   on " + server_->grpc_address() + "\n"));
  EXPECT_EQ(Client("list"),
            "envoy.service.ratelimit.v3.RateLimitService\ngrpc.health.v1.Health\n"
            "grpc.reflection.v1.ServerReflection\ngrpc.reflection.v1alpha.ServerReflection\n");
  EXPECT_THAT(Client("list", "REFLECTION=v1alpha"), HasSubstr("grpc.health.v1.Health\n"));
  ExpectAnAllowanceOfTwo();
}

TEST_F(GrpcServerConcurrentTest, AUnixSocketServesTheSame) {
  Start("unix:" + folder_.path() + ".grpc");
  ExpectAnAllowanceOfTwo();
}

TEST_F(GrpcServerConcurrentTest, ErrorsAreStatuses) {
  Start("127.0.0.1:0");
  EXPECT_THAT(Client("call envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit '{}'"),
              StartsWith(R"({"code": "UNKNOWN", "details": "rate limit domain must not be empty)"));
  EXPECT_EQ(Client(R"(call grpc.health.v1.Health/Check '{"service": "ratelimit"}')"),
            "{\"status\": \"SERVING\"}\n");
  EXPECT_THAT(Client(R"(call grpc.health.v1.Health/Check '{"service": "other"}')"),
              StartsWith(R"({"code": "NOT_FOUND")"));
  EXPECT_THAT(Client("call no.such.Service/Method"), StartsWith("reflection: 5 "));
}

TEST_F(GrpcServerConcurrentTest, WhoWatchesIsToldThatTheServerEnds) {
  Start("127.0.0.1:0");
  const std::string command = "/usr/bin/python3 " WEIR_SOURCE_DIR "/tests/grpc_client.py " +
                              server_->grpc_address() + " watch grpc.health.v1.Health/Watch '{}' 3";
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  std::array<char, 1024> line{};
  ASSERT_NE(std::fgets(line.data(), line.size(), pipe), nullptr);
  EXPECT_STREQ(line.data(), "{\"status\": \"SERVING\"}\n");
  server_->TurnAway();  // while it still serves
  ASSERT_NE(std::fgets(line.data(), line.size(), pipe), nullptr);
  EXPECT_STREQ(line.data(), "{\"status\": \"NOT_SERVING\"}\n");
  server_->Stop();
  ASSERT_NE(std::fgets(line.data(), line.size(), pipe), nullptr);
  EXPECT_THAT(line.data(), HasSubstr("\"UNAVAILABLE\""));
  pclose(pipe);
}

TEST_F(GrpcServerConcurrentTest, EveryCallOfManyStreamsIsAnswered) {
  Start("127.0.0.1:0");
  const std::string body = folder_.path() + ".body";
  std::ofstream(body, std::ios::binary) << std::string(
      "\0\0\0\0\x15\x0a\x04shop\x12\x0d\x0a\x0b\x0a"
      "\x04user\x12\x03"
      "bob",
      26);
  const std::string printed = Shell(
      "h2load -n 20000 -c 10 -m 100 -t 1 -d " + body +
      " -H 'content-type: application/grpc' -H 'te: trailers' http://" + server_->grpc_address() +
      "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit");
  EXPECT_THAT(printed, HasSubstr("20000 succeeded, 0 failed, 0 errored, 0 timeout"));
  EXPECT_THAT(printed, HasSubstr("status codes: 20000 2xx"));
}

}  // namespace
}  // namespace weir
