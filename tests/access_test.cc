// Tokens, as Redis clients say them to a whole server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>

#include "server/running_server.h"
#include "tests/blocking_client.h"
#include "tests/shell.h"
#include "tests/temporary_file.h"

namespace weir {
namespace {

using testing::HasSubstr;

class AccessConcurrentTest : public testing::Test {
 protected:
  void SetUp() override {
    ServeOptions options;
    options.http = "127.0.0.1:0";
    options.resp = "127.0.0.1:0";
    options.grpc = "";
    options.admin = "";
    options.state = folder_.path();
    options.max_keys = 1000;
    options.threads = 1;
    options.access.resp_auth = true;
    Result<std::unique_ptr<RunningServer>> server = RunningServer::Start(options);
    ASSERT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    std::ifstream(AdminTokenIn(folder_.path())) >> token_;
  }
  std::string Redis(const std::string& rest) {
    return Shell("redis-cli --no-auth-warning -p " + PortOf(server_->resp_address()) + " " + rest);
  }

  TemporaryFile folder_;
  std::unique_ptr<RunningServer> server_;
  std::string token_;
};

TEST_F(AccessConcurrentTest, RedisClientsSayATokenAndAreServed) {
  EXPECT_THAT(server_->Banner(), HasSubstr("admin-token"));
  EXPECT_THAT(Redis("PING"), HasSubstr("NOAUTH"));
  EXPECT_EQ(Redis("-a " + token_ + " PING"), "PONG\n");
  EXPECT_EQ(Redis("--user admin -a " + token_ + " PING"), "PONG\n");
  EXPECT_EQ(Redis("-3 --user admin -a " + token_ + " PING"), "PONG\n");
  EXPECT_THAT(Redis("--user bob -a " + token_ + " PING"), HasSubstr("WRONGPASS"));
  EXPECT_THAT(Redis("-a weir_wrong PING"), HasSubstr("WRONGPASS"));
  EXPECT_THAT(Shell("curl -s http://" + server_->http_address() + "/metrics"),
              HasSubstr("\nweir_resp_failed_auths_total 2\n"));
}

TEST_F(AccessConcurrentTest, WhoGuessesIsCutOffTheThirdTime) {
  BlockingClient client(server_->resp_address());
  client.Send("AUTH a\r\nAUTH b\r\nAUTH c\r\nAUTH " + token_ + "\r\nPING\r\n");
  const std::string wrong = "-WRONGPASS invalid username-password pair or user is disabled.\r\n";
  EXPECT_EQ(client.Receive(3), wrong + wrong + wrong);
  EXPECT_EQ(client.Receive(1), "");
  EXPECT_FALSE(client.is_open());
}

}  // namespace
}  // namespace weir
