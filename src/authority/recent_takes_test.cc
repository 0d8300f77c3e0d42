#include "authority/recent_takes.h"

#include <gtest/gtest.h>

namespace weir::authority {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

constexpr Instant kNoon{std::chrono::hours(500'000)};

TEST(RecentTakesTest, ThisMinuteAndTheOneBeforeCount) {
  RecentTakes takes;
  takes.Add(Permits{3}, kNoon);
  takes.Add(Permits{4}, kNoon + seconds(59));
  EXPECT_EQ(takes.Total(kNoon + seconds(59)), 7U);
  takes.Add(Permits{5}, kNoon + seconds(60));
  EXPECT_EQ(takes.Total(kNoon + seconds(119)), 12U);
  EXPECT_EQ(takes.Total(kNoon + seconds(120)), 5U);
  EXPECT_EQ(takes.Total(kNoon + seconds(180)), 0U);
}

TEST(RecentTakesTest, AfterAPauseOnlyWhatIsNewCounts) {
  RecentTakes takes;
  takes.Add(Permits{3}, kNoon);
  takes.Add(Permits{4}, kNoon + minutes(2));
  EXPECT_EQ(takes.Total(kNoon + minutes(2)), 4U);
}

TEST(RecentTakesTest, AClockThatIsBehindCountsWhereItIs) {
  RecentTakes takes;
  takes.Add(Permits{3}, kNoon);
  takes.Add(Permits{4}, kNoon - seconds(1));
  EXPECT_EQ(takes.Total(kNoon), 7U);
  EXPECT_EQ(takes.Total(kNoon + minutes(1)), 3U) << "the four were of the minute before";
  takes.Add(Permits{5}, kNoon - minutes(5));
  EXPECT_EQ(takes.Total(kNoon), 7U) << "too long ago";
}

TEST(RecentTakesTest, WhatIsTooMuchToCountIsAsMuchAsCanBe) {
  RecentTakes takes;
  takes.Add(Permits{std::numeric_limits<std::uint64_t>::max()}, kNoon);
  takes.Add(Permits{1}, kNoon);
  EXPECT_EQ(takes.Total(kNoon), std::numeric_limits<std::uint32_t>::max());
}

TEST(RecentTakesTest, TheEndsOfTimeAreInstantsToo) {
  RecentTakes takes;
  takes.Add(Permits{1}, Instant::min());
  takes.Add(Permits{2}, Instant::max());
  EXPECT_EQ(takes.Total(Instant::max()), 2U);
}

}  // namespace
}  // namespace weir::authority
