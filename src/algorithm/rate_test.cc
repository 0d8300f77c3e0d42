#include "algorithm/rate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "base/wide_math.h"

namespace weir::algorithm {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr Nanos kYear = 365 * 24h;

Rate RateOf(const Quota& quota, std::uint64_t most = 1) {
  return Rate::Of(quota, Permits{most}).value();
}

TEST(RateTest, CountsTimeInFractionsThatMakeAPermitAWholeNumber) {
  const Rate rate = RateOf(Quota::PerSecond(3));
  EXPECT_EQ(rate.ticks_per_nano, 3U);
  EXPECT_EQ(rate.ticks_per_permit, 1'000'000'000U);
}

TEST(RateTest, ReducesTheFraction) {
  const Rate rate = RateOf(Quota::Per(500, 1h));
  EXPECT_EQ(rate.ticks_per_nano, 1U);
  EXPECT_EQ(rate.ticks_per_permit, 7'200'000'000U);
}

TEST(RateTest, ReachesFromOnePerYearToABillionPerSecond) {
  EXPECT_EQ(RateOf(Quota::Per(1, kYear)).ticks_per_permit, std::uint64_t(Nanos(kYear).count()));
  EXPECT_EQ(RateOf(Quota::PerSecond(1'000'000'000)).ticks_per_permit, 1U);
}

TEST(RateTest, IsExactUpTo584TicksPerNanosecond) {
  EXPECT_EQ(RateOf(Quota::Per(584, 1'000'003ns)).ticks_per_nano, 584U);
  EXPECT_EQ(RateOf(Quota::Per(584, 1'000'003ns)).ticks_per_permit, 1'000'003U);
  EXPECT_EQ(RateOf(Quota::Per(587, 1'000'003ns)).ticks_per_nano, 512U);
}

TEST(RateTest, WhatIsNotExactIsRoundedAgainstTheCallerByLessThanATick) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t period = 1 + random() % (std::uint64_t{1} << (1 + random() % 55));
    const std::uint64_t permits = 1 + random() % period;
    const Rate rate = RateOf(Quota::Per(permits, Nanos(period)));
    // A permit takes period / permits; in ticks: period * ticks_per_nano / permits.
    const Uint128 exact_times_permits = Mul(period, rate.ticks_per_nano);
    const Uint128 stated_times_permits = Mul(rate.ticks_per_permit, permits);
    ASSERT_GE(stated_times_permits, exact_times_permits) << permits << "/" << period << "ns";
    ASSERT_LT(stated_times_permits - exact_times_permits, permits) << permits << "/" << period;
  }
}

TEST(RateTest, TicksGrowUntilTheBurstFitsAQuarterOfTheRing) {
  // 3 ticks per nanosecond would do for one permit, but not for these.
  const std::uint64_t most = Rate::kMaxSpan / 400'000'000;
  const Rate rate = RateOf(Quota::PerSecond(3), most);
  EXPECT_EQ(rate.ticks_per_nano, 1U);
  EXPECT_EQ(rate.ticks_per_permit, 333'333'334U);
  EXPECT_LE(Mul(rate.ticks_per_permit, most), Rate::kMaxSpan);
}

TEST(RateTest, RefusesABurstThatTakesMoreThan146Years) {
  EXPECT_TRUE(Rate::Of(Quota::PerSecond(1), Permits{146ULL * 365 * 86'400}));
  const auto rate = Rate::Of(Quota::PerSecond(1), Permits{147ULL * 366 * 86'400});
  ASSERT_FALSE(rate);
  EXPECT_THAT(rate.error().message, HasSubstr("take longer than 146 years to refill"));
  EXPECT_THAT(rate.error().message, HasSubstr("lower the burst or raise the rate"));
  EXPECT_FALSE(Rate::Of(Quota::PerSecond(1), Permits{kMaxUint64}));
}

TEST(RateTest, SaysWhatIsWrongWithAQuota) {
  EXPECT_EQ(WhatIsWrongWith(Quota::PerSecond(10)), "");
  EXPECT_THAT(WhatIsWrongWith(Quota::PerSecond(0)), HasSubstr("at least 1 permit per period"));
  EXPECT_THAT(WhatIsWrongWith(Quota::Per(1, 0ns)), HasSubstr("longer than 0, got 0ns"));
  EXPECT_THAT(WhatIsWrongWith(Quota::Per(1, -5ns)), HasSubstr("longer than 0, got -5ns"));
  EXPECT_THAT(WhatIsWrongWith(Quota::Per(2, 1ns)), HasSubstr("at most 1 permit per nanosecond"));
  EXPECT_THAT(WhatIsWrongWith(Quota::Per(kMaxUint64, Nanos::max())),
              HasSubstr("at most 1 permit per nanosecond"));
}

}  // namespace
}  // namespace weir::algorithm
