#include "authority/strict_clock.h"

#include <gtest/gtest.h>

#include <chrono>

namespace weir::authority {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Instant kHere{seconds(1'000)};
constexpr Instant kThere{seconds(5'000)};

TEST(StrictClockTest, LiesBetweenQuestionAndAnswer) {
  StrictClock clock(2'000);
  clock.Learn(kThere, kHere, kHere + milliseconds(3));
  EXPECT_EQ(clock.EarliestAt(kHere + milliseconds(3)), kThere);
  EXPECT_EQ(clock.LatestAt(kHere + milliseconds(3)), kThere + milliseconds(3));
}

TEST(StrictClockTest, GrowsWiderAsClocksDiffer) {
  StrictClock clock(2'000);
  clock.Learn(kThere, kHere, kHere);
  EXPECT_EQ(clock.EarliestAt(kHere + seconds(2)), kThere + seconds(2) - milliseconds(1));
  EXPECT_EQ(clock.LatestAt(kHere + seconds(2)), kThere + seconds(2) + milliseconds(1));
}

TEST(StrictClockTest, KeepsTheNarrowerOfTwoBounds) {
  StrictClock clock(2'000);
  clock.Learn(kThere, kHere, kHere);  // exact
  // An answer that took 10 ms, 8 of them on its way back, says less than what was known.
  const Instant sent = kHere + milliseconds(100);
  clock.Learn(kThere + milliseconds(102), sent, sent + milliseconds(10));
  EXPECT_EQ(clock.EarliestAt(sent + milliseconds(10)), kThere + milliseconds(110) - Nanos(55'000));
  EXPECT_EQ(clock.LatestAt(sent + milliseconds(10)), kThere + milliseconds(110) + Nanos(55'000));
}

TEST(StrictClockTest, FollowsAStoreWhoseClockIsSet) {
  for (const Nanos step : {Nanos(-seconds(60)), Nanos(seconds(60))}) {
    StrictClock clock(2'000);
    clock.Learn(kThere, kHere, kHere);
    const Instant now = kHere + seconds(1);
    clock.Learn(kThere + seconds(1) + step, now, now);
    EXPECT_EQ(clock.EarliestAt(now), kThere + seconds(1) + step);
    EXPECT_EQ(clock.LatestAt(now), kThere + seconds(1) + step);
  }
}

}  // namespace
}  // namespace weir::authority
