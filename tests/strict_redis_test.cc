// Strict hosts over a real Redis: hosts that race, and bad times.
#include "tests/strict_redis.h"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "authority/redis_authority.h"
#include "authority/terms.h"

namespace weir::authority {
namespace {

using std::chrono::milliseconds;

using StrictRedisConcurrentTest = StrictRedisTest;

// --- many at once --------------------------------------------------------------------------------

TEST_F(StrictRedisConcurrentTest, HostsThatHammerOneKeyNeverExceedTheLimit) {
  // So slow that nothing flows back while the test runs.
  const StrictLimit limit =
      StrictLimit::Of(Limit::Parse("sliding_log 300/24h + fixed_window 1000/year zone UTC").value())
          .value();
  constexpr int kHosts = 3;
  std::vector<std::thread> threads;
  std::vector<int> admitted(kHosts);
  std::vector<int> fallen(kHosts);
  for (int host = 0; host < kHosts; ++host) {
    threads.emplace_back([&, host] {
      net::Loop loop;
      RedisOptions redis = redis_options_;
      StrictHostOptions options = options_;
      options.seed = StrictHostOptions::RandomSeed();
      Instant now = Clock::now();
      RedisSite site(loop, redis, options, now);
      Waiter asked = 0;
      std::size_t told = 0;
      while (told < 400) {
        now = Clock::now();
        while (asked < told + 8 && asked < 400) {  // some at a time
          const auto known = site.site().Ask({{.limit = &limit, .key = "hot"}}, ++asked);
          if (!known) continue;
          ++told;
          admitted[host] += known->front().allowed() ? 1 : 0;
        }
        loop.Turn(milliseconds(1));
        for (const StrictSettled& settled : site.site().TakeSettled()) {
          ++told;
          admitted[host] += settled.decisions.front().allowed() ? 1 : 0;
        }
      }
      fallen[host] = static_cast<int>(site.counts().fallen);
    });
  }
  for (std::thread& thread : threads) thread.join();
  int all = 0;
  for (int host = 0; host < kHosts; ++host) {
    all += admitted[host];
    EXPECT_EQ(fallen[host], 0) << "host " << host;
  }
  EXPECT_EQ(all, 300);  // not one more, and not one less
  EXPECT_EQ(Left(limit, "hot"), 0U);
  ExpectEveryKeyToHaveATtl();
}

TEST_F(StrictRedisConcurrentTest, SeveralKeysAreAllOrNothing) {
  const StrictLimit wide = StrictLimit::Of(Limit::Parse("fixed_window 10/24h").value()).value();
  const StrictLimit narrow = StrictLimit::Of(Limit::Parse("sliding_log 1/24h").value()).value();
  const std::vector<StrictAsk> asks = {{.limit = &wide, .key = "all"},
                                       {.limit = &narrow, .key = "one"}};
  EXPECT_TRUE(Site().TakeAll(asks)[1]);
  const auto other = MakeSite();
  const std::vector<Decision> refused = other->TakeAll(asks);
  EXPECT_TRUE(refused[0]);
  EXPECT_EQ(refused[0].remaining, Permits{9});
  EXPECT_FALSE(refused[1]);
  EXPECT_EQ(Left(wide, "all"), 9U);
  ExpectEveryKeyToHaveATtl();
}

TEST_F(StrictRedisConcurrentTest, SharesItsConnectionWithTheAuthority) {
  class Noted : public Replies {
   public:
    void OnReply(Ticket /*ticket*/, const SyncReply& told) override { reply = told; }
    std::optional<SyncReply> reply;
  };
  const StrictLimit limit = StrictLimit::Of(Limit::Parse("fixed_window 10/24h").value()).value();
  ASSERT_TRUE(Site().Take(limit, "a"));
  RedisAuthority authority(Site().calls());
  const Terms terms = Terms::Of(Quota::PerSecond(5)).value();
  const SyncRequest request{.ticket = 1, .key = "a", .terms = &terms, .take = 1};
  Noted noted;
  authority.Sync({&request, 1}, noted);
  for (int turns = 0; !noted.reply && turns < 20'000; ++turns) loop_.Turn(milliseconds(1));
  ASSERT_TRUE(noted.reply);
  EXPECT_TRUE(noted.reply->taken);
  EXPECT_EQ(Site().Take(limit, "a").remaining, Permits{8});  // each has its own name
  EXPECT_EQ(redis_.Ask({"EXISTS", "weir:a", "weir:state:a"}), "2");
}

// --- bad times -----------------------------------------------------------------------------------

TEST_F(StrictRedisConcurrentTest, AScriptThatIsForgottenIsToldAgain) {
  const StrictLimit limit = StrictLimit::Of(Limit::Parse("fixed_window 10/24h").value()).value();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(redis_.Ask({"SCRIPT", "FLUSH"}), "OK");
    EXPECT_TRUE(Site().Take(limit, "a"));
  }
  EXPECT_GE(Site().calls().counts().scripts, 5U);
  EXPECT_EQ(Left(limit, "a"), 5U);
}

TEST_F(StrictRedisConcurrentTest, APausedRedisIsReplacedByThePolicyAndReadAgainWhenItGoesOn) {
  options_.deadline = milliseconds(10);
  redis_options_.connection.patience = milliseconds(500);
  const StrictLimit limit =
      StrictLimit::Of(Limit::Parse("fixed_window 10/24h").value(), OnFailure::kDeny).value();
  now_ = Clock::now();
  ASSERT_EQ(redis_.Ask({"PING"}), "PONG");
  Decision first = Site().Take(limit, "a");
  for (int i = 0; i < 100 && !first; ++i) first = Site().Take(limit, "a");  // a slow machine
  redis_.Pause();
  const auto ask = [&](Waiter waiter) {
    return Site().site().Ask({{.limit = &limit, .key = "a"}}, waiter);
  };
  const std::uint64_t left = first.remaining.count;
  ASSERT_FALSE(ask(1'000));
  loop_.Turn(milliseconds(1));  // it is sent
  now_ += milliseconds(10);
  Site().site().Tick();
  const auto refused = Site().site().Settled(1'000);
  ASSERT_TRUE(refused);
  EXPECT_FALSE(refused->front());
  // Its connection is given up, and what was sent is unknown.
  for (int turns = 0; !Site().site().host().is_quiet() && turns < 20'000; ++turns) {
    loop_.Turn(milliseconds(1));
  }
  EXPECT_GE(Site().calls().counts().unknown, 1U);
  redis_.Continue();
  Decision back;
  for (int i = 0; i < 1'000; ++i) {
    now_ += milliseconds(100);
    back = Site().Take(limit, "a");
    if (back) break;
    loop_.Turn(milliseconds(5));
  }
  ASSERT_TRUE(back);
  // What Redis had got when it was paused was executed once, or not at all.
  EXPECT_LE(back.remaining.count, left - 1);
  EXPECT_GE(back.remaining.count, left - 2);
  ExpectEveryKeyToHaveATtl();
}

TEST_F(StrictRedisConcurrentTest, AUserNeedsNoMoreThanTheDocumentedRules) {
  EXPECT_EQ(redis_.Ask({"ACL", "SETUSER", "limiter", "on", ">secret", "resetkeys", "~weir:*",
                        "-@all", "+hello", "+evalsha", "+script|load", "+get", "+set", "+time"}),
            "OK");
  redis_options_.connection.login = {.user = "limiter", .password = "secret", .database = 0};
  const StrictLimit limit =
      StrictLimit::Of(Limit::Parse("fixed_window 10/24h").value(), OnFailure::kDeny).value();
  EXPECT_TRUE(Site().Take(limit, "a")) << Site().calls().problem();
  EXPECT_EQ(Left(limit, "a"), 9U);
}

}  // namespace
}  // namespace weir::authority
