#include "authority/terms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::authority {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using testing::HasSubstr;

TEST(TermsTest, AreReducedToWholeTicks) {
  const Terms fast = Terms::Of(Quota::PerSecond(100'000)).value();
  EXPECT_EQ(fast.ticks_per_micro, 1);
  EXPECT_EQ(fast.ticks_per_permit, 10);
  const Terms third = Terms::Of(Quota::PerSecond(3)).value();
  EXPECT_EQ(third.ticks_per_micro, 3);
  EXPECT_EQ(third.ticks_per_permit, 1'000'000);
  const Terms fastest = Terms::Of(Quota::PerSecond(1'000'000'000)).value();
  EXPECT_EQ(fastest.ticks_per_micro, 1000);
  EXPECT_EQ(fastest.ticks_per_permit, 1);
}

TEST(TermsTest, RoundAgainstTheCallerWhereTheyDoNotFit) {
  const Quota quota = Quota::PerDay(999'983);
  const Terms terms = Terms::Of(quota).value();
  EXPECT_LE(8 * terms.burst * terms.ticks_per_permit, Terms::kMostTicks);
  const double exact = 999'983.0 / 86'400e6;
  const double rate =
      static_cast<double>(terms.ticks_per_micro) / static_cast<double>(terms.ticks_per_permit);
  EXPECT_LE(rate, exact);
  EXPECT_GT(rate, exact * (1 - 1e-6));
}

TEST(TermsTest, SellAheadWhatIsToleratedAndExchangeAsOftenAsThatTakes) {
  const Terms terms = Terms::Of(Quota::PerSecond(100'000)).value();
  EXPECT_EQ(terms.presale, 5'000);
  EXPECT_EQ(terms.horizon, Micros(50'000));
  EXPECT_EQ(terms.interval, Micros(33'333));
  EXPECT_EQ(Terms::Of(Quota::PerSecond(100'000), {.over_burst = 0.2}).value().interval,
            Terms::kLongestInterval);
  EXPECT_EQ(Terms::Of(Quota::PerSecond(100'000), {.over_burst = 0.001}).value().interval,
            Terms::kShortestInterval);
  EXPECT_EQ(Terms::Of(Quota::PerSecond(100'000), {.over_burst = 0}).value().presale, 0);
}

TEST(TermsTest, NeverSellAheadMoreThanFlowsBackInTheHorizon) {
  const Terms terms = Terms::Of(Quota::PerSecond(10).Burst(10'000)).value();
  EXPECT_EQ(terms.interval, Terms::kLongestInterval);
  EXPECT_EQ(terms.presale, terms.PermitsIn(terms.horizon));
}

TEST(TermsTest, SlowLimitsAreRememberedForAsLongAsTheirBucketTakesToFill) {
  EXPECT_EQ(Terms::Of(Quota::PerMinute(10)).value().epoch, std::chrono::minutes(1));
  EXPECT_EQ(Terms::Of(Quota::PerSecond(4)).value().epoch, std::chrono::seconds(1));
  EXPECT_EQ(Terms::Of(Quota::PerSecond(100'000)).value().epoch, milliseconds(250));
}

TEST(TermsTest, SayWhatIsWrongWithALimit) {
  EXPECT_THAT(Terms::Of(Quota::PerSecond(0)).error().message, HasSubstr("at least 1 permit"));
  EXPECT_THAT(Terms::Of(Quota::PerSecond(1).Burst(0)).error().message,
              HasSubstr("must be from 1 to 1000000000, got 0"));
  EXPECT_THAT(Terms::Of(Quota::PerSecond(1).Burst(2'000'000'000)).error().message,
              HasSubstr("got 2000000000"));
  EXPECT_THAT(Terms::Of(Quota::PerSecond(1), {.over_burst = 1.5}).error().message,
              HasSubstr("from 0 to 1 of the burst, got 1.5"));
  EXPECT_THAT(Terms::Of(Quota::Per(1, hours(24)).Burst(1'000'000'000)).error().message,
              HasSubstr("lower the burst or raise the rate"));
}

}  // namespace
}  // namespace weir::authority
