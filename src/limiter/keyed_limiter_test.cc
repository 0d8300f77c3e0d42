#include "weir/keyed_limiter.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "weir/limiter.h"
#include "weir/take_all.h"

namespace weir {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Instant At(Nanos since_start) { return Instant(since_start); }

TEST(KeyedLimiterTest, EachKeyHasItsOwnLimit) {
  KeyedLimiter clients(Quota::Per(10, minutes(1)), {.max_keys = 1000});
  const Decision d = clients.Take("user:7", Permits{3}, At(seconds(1)));
  EXPECT_TRUE(d);
  EXPECT_EQ(d.remaining, Permits{7});
  EXPECT_EQ(d.reset_after, seconds(18));
  EXPECT_EQ(clients.Take("user:8", Permits{1}, At(seconds(1))).remaining, Permits{9});
  EXPECT_EQ(clients.Take("user:7", Permits{8}, At(seconds(1))).retry_after, seconds(6));
}

TEST(KeyedLimiterTest, ReadsItsOwnClock) {
  KeyedLimiter clients(Quota::PerHour(1), {.max_keys = 10});
  EXPECT_TRUE(clients.Take("a"));
  EXPECT_FALSE(clients.Take("a"));
  EXPECT_TRUE(clients.Take("b"));
}

TEST(KeyedLimiterTest, RefusesOptionsAndLimitsThatMakeNoSense) {
  EXPECT_EQ(KeyedLimiter::Open(Quota::PerSecond(1), {.max_keys = 0}).error().message,
            "max_keys must be between 1 and 68719476736, got 0");
  EXPECT_EQ(KeyedLimiter::Open(Quota::PerSecond(0), {}).error().message,
            "token_bucket: the rate must be at least 1 permit per period, got 0");
  EXPECT_THROW(KeyedLimiter(Quota::PerSecond(0), {}), std::invalid_argument);
}

TEST(KeyedLimiterTest, ABatchSaysWhatSingleCallsSay) {
  for (const char* limit : {"token_bucket 10/1s burst 3", "token_bucket 7/1s burst 3 soft 50%",
                            "fixed_window 3/1s", "sliding_log 3/1s"}) {
    KeyedLimiter one_by_one(*Limit::Parse(limit), {.max_keys = 100});
    KeyedLimiter in_batches(*Limit::Parse(limit), {.max_keys = 100});
    std::vector<std::string> keys;
    for (int i = 0; i < 1000; ++i) keys.push_back("key:" + std::to_string(i * i % 70));
    for (const std::size_t size : {0U, 1U, 3U, 16U, 17U, 40U, 1000U}) {
      std::vector<Ask> asks;
      for (std::size_t i = 0; i < size; ++i) asks.push_back({keys[i], Permits{i % 4}});
      std::vector<Decision> decisions(size);
      const Instant now = At(milliseconds(100 * size));
      in_batches.Take(asks, decisions, now);
      for (std::size_t i = 0; i < size; ++i) {
        const Decision single = one_by_one.Take(keys[i], Permits{i % 4}, now);
        EXPECT_EQ(decisions[i].verdict, single.verdict) << limit << " " << i;
        EXPECT_EQ(decisions[i].remaining, single.remaining) << limit << " " << i;
        EXPECT_EQ(decisions[i].retry_after, single.retry_after) << limit << " " << i;
        EXPECT_EQ(decisions[i].reset_after, single.reset_after) << limit << " " << i;
        EXPECT_EQ(decisions[i].grace, single.grace) << limit << " " << i;
      }
    }
  }
}

TEST(KeyedLimiterTest, HoldsTheKeysItWasMadeForAndForgetsNone) {
  constexpr int kKeys = 19'000;  // the hash is seeded at random: no chance of a crowded corner
  KeyedLimiter clients(Quota::PerHour(2).Burst(2), {.max_keys = 20'000});
  for (const int round : {1, 2}) {
    for (int i = 0; i < kKeys; ++i) {
      const Decision d = clients.Take("user:" + std::to_string(i), Permits{1}, At(seconds(1)));
      ASSERT_EQ(d.remaining, Permits{static_cast<std::uint64_t>(2 - round)}) << i;
    }
  }
  EXPECT_EQ(clients.evicted(), 0);
  EXPECT_EQ(clients.CountKeys(At(seconds(1))), kKeys);
  EXPECT_EQ(clients.CountKeys(At(hours(2))), 0) << "all are full again by then";
}

TEST(KeyedLimiterTest, AFloodOfKeysNeitherGrowsTheMemoryNorFreesADebtor) {
  KeyedLimiter clients(Quota::PerHour(10), {.max_keys = 1000});
  const std::size_t bytes = clients.bytes();
  ASSERT_TRUE(clients.Take("debtor", Permits{10}, At(seconds(1))));
  for (int i = 0; i < 200'000; ++i) {
    clients.Take("flood:" + std::to_string(i), Permits{1}, At(seconds(1) + Nanos(i)));
  }
  EXPECT_FALSE(clients.Take("debtor", Permits{1}, At(seconds(2))));
  EXPECT_EQ(clients.bytes(), bytes);
  EXPECT_GT(clients.evicted(), 100'000) << "the others made room for each other";
}

TEST(KeyedLimiterTest, AKeyThatIsFullAgainTakesNoRoom) {
  KeyedLimiter clients(Quota::PerSecond(1000), {.max_keys = 1000});
  for (int i = 0; i < 100'000; ++i) {
    clients.Take("user:" + std::to_string(i), Permits{1}, At(milliseconds(i)));
  }
  EXPECT_EQ(clients.evicted(), 0);
}

TEST(KeyedLimiterTest, ChangingTheLimitKeepsWhatEveryKeyHasUsed) {
  for (const char* first : {"token_bucket 10/1h", "fixed_window 10/1h", "sliding_log 10/1h"}) {
    for (const char* second : {"token_bucket 20/1h", "fixed_window 20/1h"}) {
      KeyedLimiter clients(*Limit::Parse(first), {.max_keys = 1000});
      for (int i = 0; i < 500; ++i) {
        clients.Take("user:" + std::to_string(i), Permits{4}, At(hours(1)));
      }
      ASSERT_TRUE(clients.SetLimit(*Limit::Parse(second), At(hours(1)))) << first << second;
      for (int i = 0; i < 500; ++i) {
        EXPECT_EQ(clients.Peek("user:" + std::to_string(i), Permits{1}, At(hours(1))).remaining,
                  Permits{16})
            << first << " -> " << second;
      }
      EXPECT_EQ(clients.Peek("stranger", Permits{1}, At(hours(1))).remaining, Permits{20});
    }
  }
}

TEST(KeyedLimiterTest, ALimitThatNeedsMoreMemoryPerKeyIsRefusedAndChangesNothing) {
  KeyedLimiter clients(Quota::PerHour(10), {.max_keys = 10});
  clients.Take("a", Permits{4}, At(seconds(1)));
  const Result<Limit> refused = clients.SetLimit(SlidingLog{Quota::PerHour(5)}, At(seconds(1)));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "the limit needs 14 words per key and the table was made for 1: make another limiter "
            "for it");
  EXPECT_EQ(clients.Peek("a", Permits{1}, At(seconds(1))).remaining, Permits{6});
}

TEST(KeyedLimiterTest, ReservesAndCancelsPerKey) {
  KeyedLimiter clients(Quota::PerSecond(10).Burst(1), {.max_keys = 10});
  ASSERT_TRUE(clients.Take("a", Permits{1}, At(seconds(1))));
  Reservation second = clients.Reserve("a", Permits{1}, Nanos::max(), At(seconds(1)));
  EXPECT_EQ(second.wait(), milliseconds(100));
  EXPECT_EQ(clients.Reserve("b", Permits{1}, Nanos::max(), At(seconds(1))).wait(), Nanos(0));
  clients.Cancel("a", second, At(seconds(1)));
  EXPECT_EQ(clients.Reserve("a", Permits{1}, Nanos::max(), At(seconds(1))).wait(),
            milliseconds(100));
  clients.Charge("a", Permits{3}, At(seconds(1)));
  clients.Refund("a", Permits{4}, At(seconds(1)));
  EXPECT_EQ(clients.TakeUpTo("a", Permits{5}, At(milliseconds(1100))).taken, Permits{1});
}

TEST(TakeAllTest, TakesFromAllOrFromNone) {
  Limiter global(Quota::PerSecond(100), {}, At(Nanos(0)));
  KeyedLimiter tenants(Quota::PerSecond(10), {.max_keys = 10});
  KeyedLimiter users(Quota::PerSecond(3), {.max_keys = 10});
  const Instant now = At(seconds(1));
  const auto take = [&](std::uint64_t cost) {
    return TakeAllAt(now, Permits{cost}, global, tenants.At("acme"), users.At("user:7"));
  };
  EXPECT_EQ(take(2).remaining, Permits{1});
  const Decision refused = take(2);
  EXPECT_EQ(refused.verdict, Verdict::kDeny);
  EXPECT_EQ(refused.limit_index, 2) << "the user's";
  EXPECT_EQ(global.Peek(Permits{1}, now).remaining, Permits{98});
  EXPECT_EQ(tenants.Peek("acme", Permits{1}, now).remaining, Permits{8});
  EXPECT_EQ(take(4).verdict, Verdict::kNever);
}

TEST(ConcurrentKeyedLimiterTest, ThreadsTogetherGetExactlyTheLimitOfEachKey) {
  for (const char* limit : {"token_bucket 100/1h", "fixed_window 100/1h", "sliding_log 100/1h",
                            "token_bucket 100/1h + sliding_window 100/1h"}) {
    constexpr std::size_t kKeys = 8;
    KeyedLimiter clients(*Limit::Parse(limit), {.max_keys = kKeys});
    std::array<std::atomic<int>, kKeys> taken{};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (std::size_t i = 0; i < 2'000; ++i) {
          const std::size_t key = i % kKeys;
          const Decision d =
              clients.Take("user:" + std::to_string(key), Permits{1}, At(seconds(1)));
          if (d) taken[key].fetch_add(1);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::atomic<int>& count : taken) EXPECT_EQ(count.load(), 100) << limit;
  }
}

TEST(ConcurrentKeyedLimiterTest, KeysThatComeAndGoNeverExceedTheirLimit) {
  // A table that is far too small: slots change hands all the time.
  KeyedLimiter clients(Quota::PerHour(5), {.max_keys = 16});
  ASSERT_TRUE(clients.Take("debtor", Permits{5}, At(seconds(1))));
  std::atomic<int> too_many{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5'000; ++i) {
        clients.Take("user:" + std::to_string(i * 4 + t), Permits{1}, At(seconds(1)));
        if (clients.Take("debtor", Permits{1}, At(seconds(1)))) too_many.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(too_many.load(), 0);
}

TEST(ConcurrentKeyedLimiterTest, TakingGoesOnWhileTheLimitChanges) {
  KeyedLimiter clients(Quota::PerHour(100), {.max_keys = 100});
  constexpr std::size_t kKeys = 10;
  std::array<std::atomic<int>, kKeys> taken{};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      for (std::size_t i = 0; i < 4'000; ++i) {
        const std::size_t key = i % kKeys;
        if (clients.Take("user:" + std::to_string(key), Permits{1}, At(hours(1)))) {
          taken[key].fetch_add(1);
        }
      }
    });
  }
  threads.emplace_back([&] {
    // More often than there are plans that can be told apart.
    for (int i = 0; i < 600; ++i) {
      ASSERT_TRUE(clients.SetLimit(Quota::Per(100, hours(1 + i % 3)), At(hours(1))));
    }
  });
  for (std::thread& thread : threads) thread.join();
  for (const std::atomic<int>& count : taken) EXPECT_EQ(count.load(), 100);
}

}  // namespace
}  // namespace weir
