#include "authority/redis_calls.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "authority/redis_swap_script.h"
#include "tests/fake_redis.h"

namespace weir::authority {
namespace {

// The repairs themselves are told in redis_authority_test.cc; here it is who hears of them.
class RedisCallsTest : public testing::Test {
 protected:
  struct Caller final : RedisCalls::Caller {
    void OnAnswer(RedisCalls::Call call, Outcome outcome, wire::RespValue /*answer*/) override {
      outcomes[call] = outcome;
    }
    std::map<RedisCalls::Call, Outcome> outcomes;
  };

  RedisCallsTest() {
    options_.endpoints = {redis_.endpoint()};
    calls_ = std::make_unique<RedisCalls>(loop_, options_);
    Turn();
    EXPECT_TRUE(redis_.Accept());
    redis_.Read();
    redis_.Say("%0\r\n");
    Turn();
    redis_.Read();
    redis_.Say("$4\r\nhash\r\n");
    Turn();
  }
  void Turn() {
    for (int i = 0; i < 4; ++i) loop_.Turn(Nanos(0));
  }
  void Call(Caller& caller, RedisCalls::Call call) {
    calls_->Send(RedisScript::kSwap, "a", caller, call,
                 [](std::string& command) { command += "*1\r\n$7\r\nEVALSHA\r\n"; });
  }

  net::Loop loop_;
  FakeRedis redis_;
  RedisOptions options_;
  std::unique_ptr<RedisCalls> calls_;
};

TEST_F(RedisCallsTest, EachCallerHearsOfItsOwnCalls) {
  Caller one;
  Caller two;
  Call(one, 7);
  Call(two, 7);
  Turn();
  redis_.Say("*0\r\n-OOM command not allowed\r\n");
  Turn();
  EXPECT_EQ(one.outcomes[7], Outcome::kDone);
  EXPECT_EQ(two.outcomes[7], Outcome::kNotDone);
  EXPECT_EQ(calls_->under_way(), 0U);
}

TEST_F(RedisCallsTest, TellsTheScriptThatIsMissingAndNoOther) {
  Caller caller;
  Call(caller, 1);
  Call(caller, 2);
  Turn();
  redis_.Read();
  redis_.Say("-NOSCRIPT No matching script\r\n-NOSCRIPT No matching script\r\n");
  Turn();
  std::string load;
  AppendLoadSwapCommand(load);
  const std::string call = "*1\r\n$7\r\nEVALSHA\r\n";
  EXPECT_EQ(redis_.Read(), load + call + call);  // once for both
  redis_.Say("$4\r\nhash\r\n*0\r\n*0\r\n");
  Turn();
  EXPECT_EQ(caller.outcomes[1], Outcome::kDone);
  EXPECT_EQ(caller.outcomes[2], Outcome::kDone);
}

TEST_F(RedisCallsTest, WhoLeavesIsToldThatHisCallsAreUnknownAndHearsNoMore) {
  Caller stays;
  {
    Caller leaves;
    Call(leaves, 1);
    Call(stays, 2);
    Turn();
    calls_->Abandon(leaves);
    EXPECT_EQ(leaves.outcomes[1], Outcome::kUnknown);
  }
  EXPECT_TRUE(stays.outcomes.empty());
  redis_.Say("*0\r\n*0\r\n");
  Turn();
  EXPECT_EQ(stays.outcomes[2], Outcome::kDone);
  EXPECT_EQ(calls_->under_way(), 0U);
}

}  // namespace
}  // namespace weir::authority
