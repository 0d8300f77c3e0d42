#include "weir/limiter.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <thread>
#include <vector>

#include "weir/limit.h"

namespace weir {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Instant At(Nanos since_start) { return Instant(since_start); }

TEST(LimiterTest, ThrowsWhatIsWrongWithALimit) {
  EXPECT_THROW(Limiter(Quota::PerSecond(0)), std::invalid_argument);
  EXPECT_THROW(Limiter(Quota::PerSecond(1).Burst(0)), std::invalid_argument);
  EXPECT_THROW(Limiter(Quota::Per(1, seconds(-1))), std::invalid_argument);
  EXPECT_FALSE(Limit(Quota::PerSecond(1)).WhatIsWrong().has_value());
  EXPECT_EQ(Limit(Quota::PerSecond(1).Burst(0)).WhatIsWrong()->message,
            "token_bucket: burst must be at least 1, got 0");
}

TEST(LimiterTest, ReadsItsOwnClock) {
  Limiter limiter(Quota::PerHour(2));
  EXPECT_TRUE(limiter.Take());
  EXPECT_TRUE(limiter.Take());
  const Decision refused = limiter.Take();
  EXPECT_FALSE(refused);
  EXPECT_GT(refused.retry_after, Nanos(0));
  EXPECT_LE(refused.retry_after, std::chrono::minutes(30));
}

// A limiter with a load signal that never says that there is room takes the general way, and
// answers like one without a signal.
TEST(LimiterTest, APlainBucketDecidesWhatTheGeneralWayDecides) {
  const std::array<Limit, 5> limits = {
      Quota::PerSecond(1000).Burst(10),
      Quota::PerSecond(3).Burst(5),  // not plain
      Quota::PerHour(20),
      Quota::Per(1, Nanos(1LL << 60)).Burst(2),
      Quota::Per(1, Nanos(1LL << 62)).Burst(1),  // durations that come to their end
  };
  Limiter plain(limits[0], {}, At(Nanos(0)));
  Limiter general(limits[0], {.has_room = [] { return false; }}, At(Nanos(0)));
  std::mt19937_64 random(5);
  std::int64_t now = 1'000'000'000;
  for (int step = 0; step < 200'000; ++step) {
    switch (random() % 32) {
      case 0:
        now -= static_cast<std::int64_t>(random() % 20'000'000);  // a clock that is a little behind
        break;
      case 1:  // a clock that was set back, even to before there were any
        if (random() % 64 == 0) now = static_cast<std::int64_t>(random() % 2'000'000) - 1'000'000;
        break;
      case 2:
        if (random() % 16 == 0) {
          const Limit& limit = limits[random() % limits.size()];
          plain.SetLimit(limit, At(Nanos(now)));
          general.SetLimit(limit, At(Nanos(now)));
        }
        break;
      default:
        if (random() % 4 == 0) now += static_cast<std::int64_t>(random() % 2'000'000);
    }
    const Permits cost{random() % 20 == 0 ? random() : random() % 12};
    if (random() % 50 == 0) {  // into debt, where durations are the longest
      plain.Charge(cost, At(Nanos(now)));
      general.Charge(cost, At(Nanos(now)));
    }
    ASSERT_EQ(plain.Take(cost, At(Nanos(now))), general.Take(cost, At(Nanos(now))))
        << "cost " << cost.count << " at " << now << "ns, step " << step;
  }
}

TEST(LimiterTest, TimeStandsStillForWhoIsBehindItsOwnClock) {
  // An algorithm that keeps when each request came would find one before the last.
  Limiter limiter(SlidingLog{Quota::PerHour(5)});
  ASSERT_TRUE(limiter.Take());
  const Instant before = Clock::now();
  ASSERT_TRUE(limiter.Take());
  EXPECT_TRUE(limiter.Take(Permits{1}, before));
}

TEST(LimiterTest, CancelGivesBackExactlyWhatWasTakenAndOnlyOnce) {
  Limiter limiter(Quota::PerSecond(10).Burst(2), {}, At(Nanos(0)));
  ASSERT_TRUE(limiter.Take(Permits{2}, At(Nanos(0))));
  Reservation reservation = limiter.Reserve(Permits{2}, Nanos::max(), At(Nanos(0)));
  ASSERT_TRUE(reservation);
  EXPECT_EQ(reservation.wait(), milliseconds(200));
  limiter.Cancel(reservation, At(milliseconds(100)));
  limiter.Cancel(reservation, At(milliseconds(100)));
  EXPECT_EQ(limiter.Peek(Permits{1}, At(milliseconds(100))).remaining, Permits{1});
}

TEST(LimiterTest, AReservationThatIsRefusedTookNothing) {
  Limiter limiter(Quota::PerSecond(10).Burst(1), {}, At(Nanos(0)));
  ASSERT_TRUE(limiter.Take(Permits{1}, At(Nanos(0))));
  Reservation refused = limiter.Reserve(Permits{1}, milliseconds(99), At(Nanos(0)));
  EXPECT_FALSE(refused);
  EXPECT_EQ(refused.decision.retry_after, milliseconds(100));
  limiter.Cancel(refused, At(Nanos(0)));
  EXPECT_FALSE(limiter.Take(Permits{1}, At(milliseconds(99))));
  EXPECT_TRUE(limiter.Take(Permits{1}, At(milliseconds(100))));
}

TEST(LimiterTest, NamesTheLimitThatRefusesTheLongest) {
  Limiter limiter(Limit::AllOf({Quota::PerMinute(10), Quota::PerHour(12), Quota::PerDay(100)}), {},
                  At(Nanos(0)));
  EXPECT_EQ(limiter.Take(Permits{10}, At(Nanos(0))).limit_index, 0);
  EXPECT_EQ(limiter.Take(Permits{1}, At(Nanos(0))).limit_index, 0);
  ASSERT_TRUE(limiter.Take(Permits{2}, At(seconds(60))));
  const Decision refused = limiter.Take(Permits{5}, At(seconds(60)));
  EXPECT_EQ(refused.verdict, Verdict::kDeny);
  EXPECT_EQ(refused.limit_index, 1);
  EXPECT_EQ(limiter.Take(Permits{11}, At(seconds(60))).verdict, Verdict::kNever);
}

TEST(LimiterTest, AnElasticLimitLetsThroughWhileThereIsRoomAndChargesNothingForIt) {
  bool room = true;
  Limiter limiter(Quota::PerSecond(1), {.has_room = [&] { return room; }}, At(Nanos(0)));
  EXPECT_EQ(limiter.Take(Permits{1}, At(Nanos(0))).grace, Grace::kNone);
  for (int i = 0; i < 100; ++i) {
    const Decision above = limiter.Take(Permits{1}, At(Nanos(0)));
    EXPECT_TRUE(above);
    EXPECT_EQ(above.grace, Grace::kElastic);
  }
  room = false;
  EXPECT_EQ(limiter.Take(Permits{1}, At(Nanos(0))).retry_after, seconds(1));
  EXPECT_TRUE(limiter.Take(Permits{1}, At(seconds(1))));
  room = true;
  EXPECT_EQ(limiter.Take(Permits{2}, At(seconds(1))).verdict, Verdict::kNever);
}

TEST(LimiterTest, AWaiterWhoseDeadlineCannotBeMetFailsAtOnceAndTakesNothing) {
  Limiter limiter(Quota::PerHour(1));
  ASSERT_TRUE(limiter.Take());
  const Decision refused = limiter.Wait(Permits{1}, {}, Clock::now() + hours(1) - seconds(10));
  EXPECT_EQ(refused.verdict, Verdict::kDeny);
  EXPECT_LE(limiter.Peek().retry_after, hours(1));
}

TEST(LimiterTest, AWaiterThatIsToldToStopGivesItsPermitsBack) {
  Limiter limiter(Quota::PerHour(2));
  ASSERT_TRUE(limiter.Take(Permits{2}));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(limiter.Wait(Permits{2}, stop.get_token()));
  EXPECT_LE(limiter.Peek(Permits{2}).retry_after, hours(1)) << "both are still owed otherwise";
}

TEST(LimiterTest, AWaiterGetsItsPermits) {
  // The one test that lets real time pass: a millisecond, to see that waking up works.
  Limiter limiter(Quota::PerSecond(1000).Burst(1));
  ASSERT_TRUE(limiter.Wait(Permits{1}));
  const Decision waited = limiter.Wait(Permits{1});
  EXPECT_TRUE(waited);
  EXPECT_LE(waited.wait, milliseconds(1));
}

TEST(LimiterTest, TheLimitCanBecomeAnotherAlgorithmAndBack) {
  Limiter limiter(Quota::PerSecond(10), {}, At(Nanos(0)));
  ASSERT_TRUE(limiter.Take(Permits{4}, At(Nanos(0))));
  limiter.SetLimit(FixedWindow{Permits{10}, seconds(1)}, At(Nanos(0)));
  EXPECT_EQ(limiter.Take(Permits{1}, At(Nanos(0))).remaining, Permits{5});
  limiter.SetLimit(SlidingLog{Quota::PerSecond(10)}, At(Nanos(0)));
  EXPECT_EQ(limiter.Take(Permits{1}, At(Nanos(0))).remaining, Permits{4});
  limiter.SetLimit(Quota::PerSecond(10), At(Nanos(0)));
  EXPECT_EQ(limiter.Take(Permits{1}, At(Nanos(0))).remaining, Permits{3});
  EXPECT_THROW(limiter.SetLimit(Quota::PerSecond(0)), std::invalid_argument);
  EXPECT_EQ(limiter.Peek(Permits{1}, At(Nanos(0))).remaining, Permits{3}) << "it changed nothing";
}

class ConcurrentLimiterTest : public testing::TestWithParam<const char*> {};

TEST_P(ConcurrentLimiterTest, ThreadsTogetherGetExactlyTheLimit) {
  constexpr int kThreads = 4;
  constexpr int kTries = 2'000;
  Limiter limiter(*Limit::Parse(GetParam()), {}, At(Nanos(0)));
  std::atomic<int> taken{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < kTries; ++i) {
        if (limiter.Take(Permits{1}, At(seconds(1)))) taken.fetch_add(1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken.load(), 1000);
}

INSTANTIATE_TEST_SUITE_P(Algorithms, ConcurrentLimiterTest,
                         testing::Values("token_bucket 1000/1h",
                                         "leaky_bucket 1/1h queue 999 free 999",
                                         "fixed_window 1000/1h", "sliding_window 1000/1h",
                                         "sliding_counters 1000/1h windows 60",
                                         "sliding_log 1000/1h",
                                         "token_bucket 1000/1h + fixed_window 2000/1d"));

TEST(ConcurrentLimiterTest, TakingGoesOnWhileTheLimitChanges) {
  Limiter limiter(Quota::PerHour(1000), {}, At(Nanos(0)));
  std::atomic<int> taken{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 3'000; ++i) {
        if (limiter.Take(Permits{1}, At(seconds(1)))) taken.fetch_add(1);
      }
    });
  }
  threads.emplace_back([&] {
    for (int i = 0; i < 100; ++i) {
      limiter.SetLimit(FixedWindow{Permits{1000}, hours(1)}, At(seconds(1)));
      limiter.SetLimit(Quota::PerHour(1000), At(seconds(1)));
    }
  });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(taken.load(), 1000);
}

}  // namespace
}  // namespace weir
