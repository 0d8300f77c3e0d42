#include "authority/redis_connection.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "net/endpoint.h"
#include "tests/fake_redis.h"
#include "wire/resp_command.h"

namespace weir::authority {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class RedisConnectionTest : public testing::Test, public RedisConnection::Client {
 protected:
  void OnAnswer(RedisConnection& /*connection*/, RedisConnection::Tag tag, Outcome outcome,
                wire::RespValue answer) override {
    const std::string what = outcome == Outcome::kUnknown   ? "unknown"
                             : outcome == Outcome::kNotDone ? "not done"
                             : answer.is(wire::RespKind::kInteger)
                                 ? std::to_string(answer.integer())
                                 : std::string(answer.text());
    answers_.push_back(std::to_string(tag) + ": " + what);
  }

  void Connect() {
    connection_ = std::make_unique<RedisConnection>(loop_, redis_.endpoint(), options_, *this);
  }
  // Connects and greets.
  void BeUp() {
    Connect();
    Greet();
    ASSERT_TRUE(connection_->is_up());
  }
  void Greet() {
    Turn();
    ASSERT_TRUE(redis_.Accept());
    EXPECT_EQ(redis_.Read(), FakeRedis::kHello);
    redis_.Say("%1\r\n$5\r\nproto\r\n:3\r\n");
    Turn();
  }
  // Everything that the kernel has to tell, and every timer that is due.
  void Turn() {
    for (int i = 0; i < 4; ++i) loop_.Turn(Nanos(0));
  }
  void Pass(Nanos time) {
    now_ += time;
    Turn();
  }
  void Send(std::string_view word, RedisConnection::Tag tag) {
    std::string command;
    wire::AppendRespCommand({word}, command);
    connection_->Send(command, tag);
  }
  std::vector<std::string> Answers() { return std::exchange(answers_, {}); }

  using Lines = std::vector<std::string>;

  Instant now_{seconds(1'000'000)};
  net::Loop loop_{[this] { return now_; }};
  FakeRedis redis_;
  RedisConnectionOptions options_;
  std::vector<std::string> answers_;
  std::unique_ptr<RedisConnection> connection_;
};

TEST_F(RedisConnectionTest, CommandsThatWereSentWhileItConnectsGoOutAfterTheGreeting) {
  options_.opening = "*1\r\n$4\r\nPING\r\n";
  Connect();
  Send("A", 1);
  Turn();
  ASSERT_TRUE(redis_.Accept());
  EXPECT_EQ(redis_.Read(), FakeRedis::kHello);
  redis_.Say("+OK\r\n");
  Turn();
  EXPECT_EQ(redis_.Read(), "*1\r\n$4\r\nPING\r\n*1\r\n$1\r\nA\r\n");
  redis_.Say("+PONG\r\n:7\r\n");
  Turn();
  EXPECT_EQ(Answers(), Lines{"1: 7"});
}

TEST_F(RedisConnectionTest, CommandsOfOneTurnGoOutTogetherAndAnswersComeInOrder) {
  BeUp();
  Send("A", 1);
  Send("B", 2);
  EXPECT_EQ(redis_.Read(), "");
  Turn();
  EXPECT_EQ(redis_.Read(), "*1\r\n$1\r\nA\r\n*1\r\n$1\r\nB\r\n");
  redis_.Say(":1\r\n>1\r\n+news\r\n$5\r\nhe");
  Turn();
  EXPECT_EQ(Answers(), Lines{"1: 1"});  // what nobody asked for is not taken for an answer
  redis_.Say("llo\r\n");
  Turn();
  EXPECT_EQ(Answers(), Lines{"2: hello"});
}

TEST_F(RedisConnectionTest, WhatWasWrittenIsUnknownAndWhatWasNotIsNotDoneWhenTheServerHangsUp) {
  BeUp();
  Send("A", 1);
  Turn();
  Send("B", 2);
  redis_.HangUp();
  Turn();
  EXPECT_EQ(Answers(), (Lines{"1: unknown", "2: not done"}));
  EXPECT_FALSE(connection_->is_up());
}

TEST_F(RedisConnectionTest, ACommandOfWhichTheKernelTookAPartIsNotDone) {
  constexpr std::size_t kCommands = 64;
  BeUp();
  std::string large;
  wire::AppendRespCommand({std::string(50'000, 'x')}, large);
  for (RedisConnection::Tag tag = 0; tag < kCommands; ++tag) connection_->Send(large, tag);
  Turn();
  const std::size_t whole = redis_.Read().size() / large.size();  // as much as the kernel took
  ASSERT_GT(whole, 0U);
  ASSERT_LT(whole, kCommands);
  redis_.HangUp();
  Turn();
  Lines expected;
  for (std::size_t tag = 0; tag < kCommands; ++tag) {
    expected.push_back(std::to_string(tag) + (tag < whole ? ": unknown" : ": not done"));
  }
  EXPECT_EQ(Answers(), expected);
}

TEST_F(RedisConnectionTest, WithoutAnAnswerItIsLostAfterItsPatience) {
  options_.patience = milliseconds(200);
  BeUp();
  Send("A", 1);
  Turn();
  Pass(milliseconds(150));
  Send("B", 2);
  Turn();
  EXPECT_EQ(Answers(), Lines{});
  Pass(milliseconds(50));
  EXPECT_EQ(Answers(), (Lines{"1: unknown", "2: unknown"}));
  EXPECT_NE(connection_->problem().find("no answer after 200 ms"), std::string::npos);
}

TEST_F(RedisConnectionTest, AnswersInTimeKeepItUp) {
  options_.patience = milliseconds(200);
  BeUp();
  for (int i = 0; i < 10; ++i) {
    Send("A", 1);
    Turn();
    Pass(milliseconds(150));
    redis_.Read();
    redis_.Say(":1\r\n");
    Turn();
  }
  EXPECT_EQ(Answers().size(), 10U);
  Pass(seconds(5));  // nothing is waited for
  EXPECT_TRUE(connection_->is_up());
}

TEST_F(RedisConnectionTest, WhileItIsDownCommandsAreNotDoneAtOnceUntilTheServerGreetsAgain) {
  options_.reconnect = {.first = milliseconds(100), .longest = milliseconds(100)};
  BeUp();
  redis_.HangUp();
  Turn();
  Send("A", 1);
  EXPECT_EQ(Answers(), Lines{"1: not done"});
  Pass(milliseconds(49));
  EXPECT_FALSE(redis_.Accept());  // half of the wait is sure
  Pass(milliseconds(51));
  Send("B", 2);  // it connects, but was lost before
  EXPECT_EQ(Answers(), Lines{"2: not done"});
  Greet();
  EXPECT_TRUE(connection_->is_up());
  EXPECT_EQ(connection_->problem(), "");
  Send("C", 3);
  Turn();
  EXPECT_EQ(redis_.Read(), "*1\r\n$1\r\nC\r\n");  // and nothing of before
}

TEST_F(RedisConnectionTest, AServerThatTakesConnectionsButSaysNothingIsGivenUp) {
  options_.connect_patience = milliseconds(100);
  Connect();
  Send("A", 1);
  Turn();
  ASSERT_TRUE(redis_.Accept());
  Pass(milliseconds(100));
  EXPECT_EQ(Answers(), Lines{"1: not done"});
  EXPECT_NE(connection_->problem().find("no connection after 100 ms"), std::string::npos);
}

TEST_F(RedisConnectionTest, AServerThatIsNotThereLeavesNothingDone) {
  redis_.GoAway();
  Connect();
  Send("A", 1);
  Turn();
  EXPECT_EQ(Answers(), Lines{"1: not done"});
  EXPECT_NE(connection_->problem().find("refused"), std::string::npos) << connection_->problem();
}

// A name is looked up in a thread of its own.
using RedisConnectionConcurrentTest = RedisConnectionTest;

TEST_F(RedisConnectionConcurrentTest, ANameThatDoesNotExistIsSaid) {
  connection_ = std::make_unique<RedisConnection>(loop_, net::Endpoint{"no such name", 6379, ""},
                                                  options_, *this);
  Send("A", 1);
  for (int i = 0; i < 2000 && answers_.empty(); ++i) loop_.Turn(milliseconds(10));
  EXPECT_EQ(Answers(), Lines{"1: not done"});
  EXPECT_NE(connection_->problem().find("no such host"), std::string::npos);
}

TEST_F(RedisConnectionTest, LogsInWithHello) {
  options_.login = {.user = "limiter", .password = "secret", .database = 2};
  Connect();
  Turn();
  ASSERT_TRUE(redis_.Accept());
  EXPECT_EQ(redis_.Read(),
            "*7\r\n$5\r\nHELLO\r\n$1\r\n3\r\n$4\r\nAUTH\r\n$7\r\nlimiter\r\n$6\r\nsecret\r\n"
            "$7\r\nSETNAME\r\n$4\r\nweir\r\n");
  redis_.Say("%0\r\n");
  Turn();
  EXPECT_EQ(redis_.Read(), "*2\r\n$6\r\nSELECT\r\n$1\r\n2\r\n");
  redis_.Say("+OK\r\n");
  Turn();
  EXPECT_TRUE(connection_->is_up());
}

TEST_F(RedisConnectionTest, AServerWithoutHelloIsSpokenToAsBefore) {
  options_.login = {.user = "", .password = "secret", .database = 0};
  Connect();
  Turn();
  ASSERT_TRUE(redis_.Accept());
  redis_.Read();
  redis_.Say("-ERR unknown command `HELLO`\r\n");
  Turn();
  EXPECT_EQ(redis_.Read(), "*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n");
  redis_.Say("+OK\r\n");
  Turn();
  EXPECT_TRUE(connection_->is_up());
}

TEST_F(RedisConnectionTest, ARefusedLoginIsSaidAndTriedAgain) {
  options_.login = {.user = "", .password = "wrong", .database = 0};
  Connect();
  Send("A", 1);
  Turn();
  ASSERT_TRUE(redis_.Accept());
  redis_.Say("-WRONGPASS invalid username-password pair\r\n");
  Turn();
  EXPECT_EQ(Answers(), Lines{"1: not done"});
  EXPECT_NE(connection_->problem().find("WRONGPASS"), std::string::npos);
  Pass(seconds(3));
  EXPECT_TRUE(redis_.Accept());
}

TEST_F(RedisConnectionTest, AnAnswerThatNothingWasAskedForEndsTheConnection) {
  BeUp();
  redis_.Say(":1\r\n");
  Turn();
  EXPECT_FALSE(connection_->is_up());
  EXPECT_EQ(Answers(), Lines{});
}

TEST_F(RedisConnectionTest, WhatIsNoAnswerOfRedisEndsTheConnection) {
  BeUp();
  Send("A", 1);
  Turn();
  redis_.Say("HTTP/1.1 400 Bad Request\r\n");
  Turn();
  EXPECT_EQ(Answers(), Lines{"1: unknown"});
}

TEST_F(RedisConnectionTest, MoreThanMayBeUnderWayIsNotDone) {
  options_.most_under_way = 2;
  BeUp();
  Send("A", 1);
  Send("B", 2);
  Send("C", 3);
  EXPECT_EQ(Answers(), Lines{"3: not done"});
}

TEST_F(RedisConnectionTest, ItsEndAnswersWhatIsUnderWay) {
  BeUp();
  Send("A", 1);
  Turn();
  Send("B", 2);
  connection_.reset();
  EXPECT_EQ(Answers(), (Lines{"1: unknown", "2: not done"}));
  Pass(seconds(5));  // and no timer is left
}

}  // namespace
}  // namespace weir::authority
