// The Redis protocol, spoken by programs that know nothing of Weir: a client library of Redis, and
// Redis's own benchmark. The library's questions are in redis_client.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>

#include "server/running_server.h"
#include "tests/shell.h"
#include "tests/temporary_file.h"

namespace weir {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

class RedisClientConcurrentTest : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(folder_.folder() / "rules.yaml")
        << "namespace: default\n"
           "rules: [{name: orders, match: {path: /orders}, by: [user], limit: 2/h}]\n";
    ServeOptions options;
    options.http = "";
    options.grpc = "";
    options.admin = "";
    options.resp = "127.0.0.1:0";
    options.rules = folder_.folder() / "rules.yaml";
    options.state = "memory";
    options.max_keys = 10'000;
    options.threads = 2;
    options.password = "open.sesame";
    Result<std::unique_ptr<RunningServer>> server = RunningServer::Start(options);
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
  }
  [[nodiscard]] std::string port() const { return PortOf(server_->resp_address()); }

  TemporaryFile folder_;
  std::unique_ptr<RunningServer> server_;
};

// Debian's Python has Debian's library, whatever other Python is in PATH.
TEST_F(RedisClientConcurrentTest, ALibraryOfRedisIsServed) {
  EXPECT_THAT(Shell("/usr/bin/python3 " WEIR_SOURCE_DIR "/tests/redis_client.py " + port() +
                    " open.sesame && echo all is well"),
              AllOf(HasSubstr("\nOK\n"), HasSubstr("all is well")));
}

TEST_F(RedisClientConcurrentTest, EveryRequestOfTheBenchmarkIsAnsweredAndCountedOnce) {
  const std::string redis = " -p " + port() + " -a open.sesame --no-auth-warning ";
  EXPECT_THAT(Shell("redis-benchmark -p " + port() +
                    " -a open.sesame -n 4000 -c 20 -P 10 -q CL.THROTTLE shared 9999 1 3600"),
              AllOf(HasSubstr("requests per second"), Not(HasSubstr("rror"))));
  EXPECT_THAT(Shell("redis-cli" + redis + "CL.THROTTLE shared 9999 1 3600"),
              StartsWith("0\n10000\n5999\n-1\n"));
}

}  // namespace
}  // namespace weir
