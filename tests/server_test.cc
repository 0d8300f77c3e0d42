// The whole server, asked by the clients that people use: curl and redis-cli.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>

#include "server/running_server.h"
#include "tests/server_process.h"
#include "tests/shell.h"
#include "tests/temporary_file.h"

namespace weir {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

ServeOptions OptionsFor(const TemporaryFile& folder) {
  ServeOptions options;
  options.http = "127.0.0.1:0";
  options.resp = "127.0.0.1:0";
  options.grpc = "127.0.0.1:0";
  options.admin = "";
  options.state = folder.path();
  options.max_keys = 10'000;
  options.threads = 2;
  return options;
}

class RunningServerConcurrentTest : public testing::Test {
 protected:
  void Start(const ServeOptions& options) {
    Result<std::unique_ptr<RunningServer>> server = RunningServer::Start(options);
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
  }
  std::string Curl(const std::string& rest) {
    return Shell("curl -s -i --max-time 20 http://" + server_->http_address() + rest);
  }
  std::string Redis(const std::string& command) {
    return Shell("redis-cli -p " + PortOf(server_->resp_address()) + " " + command);
  }

  TemporaryFile folder_;
  std::unique_ptr<RunningServer> server_;
};

TEST_F(RunningServerConcurrentTest, TheFirstCommandToTryIsThrottledTheFourthTime) {
  Start(OptionsFor(folder_));
  EXPECT_THAT(server_->Banner(), HasSubstr("curl -i http://" + server_->http_address()));
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(Curl("/check/hello"), StartsWith("HTTP/1.1 200 OK")) << i;
  }
  const std::string refused = Curl("/check/hello");
  EXPECT_THAT(refused, StartsWith("HTTP/1.1 429 Too Many Requests"));
  EXPECT_THAT(refused, HasSubstr("Retry-After: "));
  EXPECT_THAT(Curl("/readyz"), StartsWith("HTTP/1.1 200"));
}

TEST_F(RunningServerConcurrentTest, RedisClientsAreAnsweredAsRedisCellWould) {
  Start(OptionsFor(folder_));
  EXPECT_EQ(Redis("PING"), "PONG\n");
  EXPECT_EQ(Redis("CL.THROTTLE user 1 1 3600"), "0\n2\n1\n-1\n3600\n");
  EXPECT_THAT(Redis("CL.THROTTLE user 1 1 3600"), StartsWith("0\n2\n0\n-1\n"));
  EXPECT_THAT(Redis("CL.THROTTLE user 1 1 3600"), StartsWith("1\n2\n0\n"));
  EXPECT_EQ(Redis("DEL user"), "1\n");
  EXPECT_THAT(Redis("-3 CL.THROTTLE user 1 1 3600"), HasSubstr("-1"));
  EXPECT_THAT(Redis("-3 HELLO"), HasSubstr("proto 3\n"));
  EXPECT_THAT(Redis("WEIR.CHECK default path /hello ip 10.0.0.1"), StartsWith("1\nhello\n3\n2\n"));
}

TEST_F(RunningServerConcurrentTest, OneLimitCountsOverAllProtocols) {
  Start(OptionsFor(folder_));
  EXPECT_THAT(Curl("/check/hello"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Redis("WEIR.CHECK default path /hello ip 127.0.0.1"), StartsWith("1\nhello\n3\n1\n"));
  EXPECT_THAT(Curl("/v1/check -d '{\"namespace\":\"default\",\"attributes\":{\"path\":\"/hello\","
                   "\"ip\":\"127.0.0.1\"}}'"),
              HasSubstr("\"remaining\":0"));
  EXPECT_THAT(Curl("/check/hello"), StartsWith("HTTP/1.1 429"));
}

TEST_F(RunningServerConcurrentTest, UnixSocketsServeBoth) {
  ServeOptions options = OptionsFor(folder_);
  options.http = "unix:" + folder_.path() + ".http";
  options.resp = "unix:" + folder_.path() + ".resp";
  Start(options);
  EXPECT_THAT(Shell("curl -s -i --unix-socket " + folder_.path() + ".http http://weir/check/hello"),
              StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(Shell("redis-cli -s " + folder_.path() + ".resp PING"), "PONG\n");
}

TEST_F(RunningServerConcurrentTest, ADelayedAnswerComesInItsTime) {
  const std::string rules = folder_.path() + ".yaml";
  std::ofstream(rules) << "namespace: default\n"
                          "rules: [{name: slow, limit: 1/200ms, exceed: delay 10s}]\n";
  ServeOptions options = OptionsFor(folder_);
  options.rules = rules;
  Start(options);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 3; ++i) EXPECT_THAT(Curl("/check"), StartsWith("HTTP/1.1 200"));
  // Two waits; how long they take beyond that is the machine's.
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(300));
}

TEST_F(RunningServerConcurrentTest, WrongOptionsSayWhatIsWrong) {
  ServeOptions options = OptionsFor(folder_);
  options.clients.gateways = {"10.0.0.0/99"};
  EXPECT_THAT(RunningServer::Start(options).error().message, HasSubstr("got '10.0.0.0/99'"));
  options = OptionsFor(folder_);
  options.rules = folder_.path() + ".missing.yaml";
  EXPECT_THAT(RunningServer::Start(options).error().message, HasSubstr(".missing.yaml"));
  options = OptionsFor(folder_);
  Start(options);
  options.http = server_->http_address();
  options.state = folder_.path() + ".other";
  EXPECT_THAT(RunningServer::Start(options).error().message, HasSubstr("in use"));
}

TEST(ServerProcessTest, AServerThatIsKilledContinuesWhereItWas) {
  const TemporaryFile folder;
  const auto ask = [](const ServerProcess& server, const std::string& command) {
    return Shell("redis-cli -p " + PortOf(server.resp_address()) + " " + command);
  };
  {
    const ServerProcess server(OptionsFor(folder));
    EXPECT_THAT(ask(server, "-r 7 CL.THROTTLE user 9 1 86400"), HasSubstr("10\n3\n-1\n"));
    EXPECT_THAT(ask(server, "WEIR.CHECK default path /hello ip 10.9.9.9"), StartsWith("1\n"));
  }
  const ServerProcess server(OptionsFor(folder));
  EXPECT_THAT(ask(server, "CL.THROTTLE user 9 1 86400"), HasSubstr("10\n2\n-1\n"));
  EXPECT_THAT(ask(server, "-r 2 CL.THROTTLE user 9 1 86400"), HasSubstr("10\n0\n-1\n"));
  EXPECT_THAT(ask(server, "CL.THROTTLE user 9 1 86400"), StartsWith("1\n10\n0\n"));
  EXPECT_THAT(ask(server, "WEIR.CHECK default path /hello ip 10.9.9.9"),
              Not(StartsWith("1\nhello\n3\n2\n")));
}

}  // namespace
}  // namespace weir
