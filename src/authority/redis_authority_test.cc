#include "authority/redis_authority.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/fake_redis.h"

namespace weir::authority {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// The numbers that the script answers: one taken, and four are left.
std::string Taken() {
  std::string answer = "$72\r\n";
  for (const double number : {1, 1, 0, 0, 7, 0, 0, 4, 0}) {
    char bytes[sizeof number];
    std::memcpy(bytes, &number, sizeof number);
    answer.append(bytes, sizeof number);
  }
  return answer + "\r\n";
}

// What a real Redis hardly ever says; the rest is in tests/redis_*_test.cc.
class RedisAuthorityTest : public testing::Test, public Replies {
 protected:
  void OnReply(Ticket /*ticket*/, const SyncReply& reply) override { replies_.push_back(reply); }

  void BeUp(RedisKind kind) {
    options_.kind = kind;
    options_.endpoints = {redis_.endpoint()};
    authority_ = std::make_unique<RedisAuthority>(loop_, options_);
    Turn();
    ASSERT_TRUE(redis_.Accept());
    redis_.Read();
    redis_.Say("%0\r\n");
    Turn();
    const std::string opening = redis_.Read();
    EXPECT_NE(opening.find("SCRIPT"), std::string::npos);
    redis_.Say("$4\r\nhash\r\n");
    if (kind == RedisKind::kCluster) {
      EXPECT_NE(opening.find("SLOTS"), std::string::npos);
      redis_.Say("*0\r\n");
    }
    Turn();
  }
  void Take() {
    const SyncRequest request{.ticket = 1, .key = "a", .terms = &terms_, .take = 1};
    authority_->Sync({&request, 1}, *this);
    Turn();
  }
  void Turn() {
    for (int i = 0; i < 4; ++i) loop_.Turn(Nanos(0));
  }
  void Pass(Nanos time) {
    now_ += time;
    Turn();
  }
  // How often the script was asked for since the last call.
  int Calls() {
    const std::string read = redis_.Read();
    int calls = 0;
    for (std::size_t at = 0; (at = read.find("EVALSHA", at)) != std::string::npos; ++at) ++calls;
    return calls;
  }

  Instant now_{seconds(1'000'000)};
  net::Loop loop_{[this] { return now_; }};
  FakeRedis redis_;
  RedisOptions options_;
  Terms terms_ = Terms::Of(Quota::PerSecond(5)).value();
  std::vector<SyncReply> replies_;
  std::unique_ptr<RedisAuthority> authority_;
};

TEST_F(RedisAuthorityTest, TryAgainIsTriedAgainALittleLater) {
  BeUp(RedisKind::kServer);
  Take();
  EXPECT_EQ(Calls(), 1);
  redis_.Say("-TRYAGAIN Multiple keys request during rehashing of slot\r\n");
  Turn();
  EXPECT_EQ(Calls(), 0);
  EXPECT_TRUE(replies_.empty());
  Pass(milliseconds(5));
  EXPECT_EQ(Calls(), 1);
  redis_.Say(Taken());
  Turn();
  ASSERT_EQ(replies_.size(), 1U);
  EXPECT_TRUE(replies_[0].taken);
  EXPECT_EQ(replies_[0].tokens, 4);
  EXPECT_EQ(authority_->under_way(), 0U);
}

TEST_F(RedisAuthorityTest, WhatIsSentToAndFroIsGivenUp) {
  BeUp(RedisKind::kServer);
  Take();
  int calls = 0;
  for (int i = 0; i < 20 && replies_.empty(); ++i) {
    calls += Calls();
    redis_.Say("-TRYAGAIN later\r\n");
    Turn();
    Pass(milliseconds(5));
  }
  ASSERT_EQ(replies_.size(), 1U);
  EXPECT_EQ(replies_[0].outcome, Outcome::kNotDone);
  EXPECT_EQ(calls, 6);
  EXPECT_EQ(Calls(), 0);
}

TEST_F(RedisAuthorityTest, AScriptThatMayNotBeToldIsGivenUpAndSaid) {
  BeUp(RedisKind::kServer);
  Take();
  for (int i = 0; i < 20 && replies_.empty(); ++i) {
    const bool is_told = redis_.Read().find("LOAD") != std::string::npos;
    if (is_told) redis_.Say("-NOPERM this user has no permissions to run 'script|load'\r\n");
    redis_.Say("-NOSCRIPT No matching script\r\n");
    Turn();
  }
  ASSERT_EQ(replies_.size(), 1U);
  EXPECT_EQ(replies_[0].outcome, Outcome::kNotDone);
}

TEST_F(RedisAuthorityTest, AnAnswerThatIsNotTheScriptsIsUnknown) {
  BeUp(RedisKind::kServer);
  for (const char* answer : {"+OK\r\n", "*1\r\n:1\r\n", "_\r\n"}) {
    Take();
    redis_.Say(answer);
    Turn();
    ASSERT_FALSE(replies_.empty()) << answer;
    EXPECT_EQ(replies_.back().outcome, Outcome::kUnknown) << answer;
  }
}

TEST_F(RedisAuthorityTest, ANodeOfAClusterThatIsTakenForAServerSaysSo) {
  BeUp(RedisKind::kServer);
  Take();
  redis_.Say("-MOVED 1 10.0.0.1:6379\r\n");
  Turn();
  ASSERT_EQ(replies_.size(), 1U);
  EXPECT_EQ(replies_[0].outcome, Outcome::kNotDone);
  EXPECT_NE(authority_->problem().find("it is a node of a cluster"), std::string::npos);
}

TEST_F(RedisAuthorityTest, AClusterThatIsDownLeavesNothingDoneAndIsLookedAtAgain) {
  BeUp(RedisKind::kCluster);
  Take();
  EXPECT_EQ(Calls(), 1);
  redis_.Say("-CLUSTERDOWN The cluster is down\r\n");
  Turn();
  ASSERT_EQ(replies_.size(), 1U);
  EXPECT_EQ(replies_[0].outcome, Outcome::kNotDone);
  Pass(milliseconds(100));
  EXPECT_NE(redis_.Read().find("SLOTS"), std::string::npos);
}

TEST_F(RedisAuthorityTest, WhatWaitsToBeTriedAgainIsAnsweredAtTheEnd) {
  BeUp(RedisKind::kServer);
  Take();
  redis_.Say("-TRYAGAIN later\r\n");
  Turn();
  authority_.reset();
  ASSERT_EQ(replies_.size(), 1U);
  EXPECT_EQ(replies_[0].outcome, Outcome::kNotDone);
}

}  // namespace
}  // namespace weir::authority
