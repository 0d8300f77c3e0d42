#include "authority/strict_state.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "weir/limit.h"

namespace weir::authority {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Instant kNow{seconds(1'000'000)};

std::shared_ptr<const WrittenLimit> Written(const std::string& text) {
  return StrictLimit::Of(Limit::Parse(text).value()).value().written();
}

class StrictStateTest : public testing::Test {
 protected:
  StrictState Reread(const StrictState& state) {
    return StrictState::Read(state.Write(StrictState::MakeStamp(1)), limits_);
  }

  WrittenLimits limits_;
};

TEST_F(StrictStateTest, WhatIsReadGoesOnWhereWhatWasWrittenStopped) {
  for (const char* text :
       {"token_bucket 10/1s burst 20", "leaky_bucket 5/1s queue 10", "fixed_window 20/month",
        "fixed_window 20/1h start first", "sliding_window 20/1m", "sliding_counters 20/1m",
        "sliding_log 20/1m min_gap 1ms", "pacer 10/1s", "fixed_window 30/1h + sliding_log 20/1m"}) {
    const auto limit = Written(text);
    StrictState written;
    StrictState kept;
    Instant now = kNow;
    for (int i = 0; i < 50; ++i) {
      now += milliseconds(70);
      const Decision one = written.Take(limit, Permits{1}, now);
      const Decision two = kept.Take(limit, Permits{1}, now);
      ASSERT_EQ(one.verdict, two.verdict) << text;
      ASSERT_EQ(one.remaining, two.remaining) << text;
      ASSERT_EQ(one.retry_after, two.retry_after) << text;
      ASSERT_EQ(one.reset_after, two.reset_after) << text;
      written = Reread(written);
    }
  }
}

TEST_F(StrictStateTest, IsNoLargerThanWhatIsInUse) {
  const auto limit = Written("sliding_log 1000/1h");
  StrictState state;
  state.Take(limit, Permits{1}, kNow);
  const std::size_t first = state.Write(StrictState::MakeStamp(1)).size();
  EXPECT_LT(first, 120U);
  for (int i = 1; i <= 10; ++i) state.Take(limit, Permits{1}, kNow + milliseconds(i));
  EXPECT_EQ(state.Write(StrictState::MakeStamp(1)).size(), first + 160);
}

TEST_F(StrictStateTest, NoBytesAreMoreThanAKeyNeverSeen) {
  const auto limit = Written("fixed_window 5/1h");
  StrictState state;
  state.Take(limit, Permits{2}, kNow);
  const std::string value = state.Write(StrictState::MakeStamp(1));
  for (std::size_t size = 0; size < value.size(); ++size) {
    StrictState read = StrictState::Read(value.substr(0, size), limits_);
    EXPECT_GE(read.Peek(limit, Permits{1}, kNow).remaining, Permits{3}) << size;
  }
  for (std::size_t at = 0; at < value.size(); ++at) {  // anything may come of it, but no crash
    std::string wrong = value;
    wrong[at] = static_cast<char>(wrong[at] ^ 0x55);
    StrictState read = StrictState::Read(wrong, limits_);
    EXPECT_LE(read.Peek(limit, Permits{1}, kNow).remaining, Permits{5}) << at;
  }
  EXPECT_EQ(Reread(state).Peek(limit, Permits{1}, kNow).remaining, Permits{3});
}

TEST_F(StrictStateTest, AHostWhoseClockIsBehindGivesNoCreditTwice) {
  const auto limit = Written("fixed_window 1/1s");
  StrictState state;
  EXPECT_TRUE(state.Take(limit, Permits{1}, kNow));
  EXPECT_TRUE(state.Take(limit, Permits{1}, kNow + seconds(1)));
  StrictState read = Reread(state);
  const Decision behind = read.Take(limit, Permits{1}, kNow + milliseconds(999));
  EXPECT_FALSE(behind);
  EXPECT_EQ(behind.retry_after, milliseconds(1001));  // by its own clock
}

TEST_F(StrictStateTest, AClockThatIsSetBackForLongLocksNobodyOut) {
  const auto limit = Written("fixed_window 1/1s");
  StrictState state;
  EXPECT_TRUE(state.Take(limit, Permits{1}, kNow));
  StrictState read = Reread(state);
  const Instant set_back = kNow - hours(5);
  EXPECT_FALSE(read.Take(limit, Permits{1}, set_back));  // gives nothing either
  EXPECT_TRUE(read.Take(limit, Permits{1}, set_back + seconds(1)));
  read = Reread(read);
  EXPECT_FALSE(read.Take(limit, Permits{1}, set_back + seconds(1)));
  EXPECT_TRUE(read.Take(limit, Permits{1}, set_back + seconds(2)));
  EXPECT_LE(read.ForgottenIn(set_back + seconds(2)), seconds(1));
}

TEST_F(StrictStateTest, LivesUntilNothingIsRememberedAndNoLonger) {
  const auto limit = Written("sliding_log 5/10s");
  StrictState state;
  EXPECT_FALSE(state.IsForgottenAt(kNow));  // there is nothing to forget
  state.Take(limit, Permits{1}, kNow);
  EXPECT_EQ(state.ForgottenIn(kNow), seconds(10));
  EXPECT_FALSE(state.IsForgottenAt(kNow + seconds(10) - Nanos(1)));
  EXPECT_TRUE(state.IsForgottenAt(kNow + seconds(10)));
  // By a clock that is behind it takes that much longer.
  EXPECT_EQ(state.ForgottenIn(kNow - seconds(1)), seconds(11));
}

TEST_F(StrictStateTest, AKeyThatBeginsWithLessIsKeptForADayMore) {
  for (const char* text : {"pacer 10/1s", "token_bucket 10/1s burst 10 initial 2"}) {
    const auto limit = Written(text);
    StrictState state;
    state.Take(limit, Permits{1}, kNow);
    EXPECT_GT(state.ForgottenIn(kNow), hours(24)) << text;
    EXPECT_LE(state.ForgottenIn(kNow), hours(24) + seconds(2)) << text;
  }
}

TEST_F(StrictStateTest, WhatWasTakenCanBeGivenBackAsOfThen) {
  const auto limit = Written("sliding_log 3/10s");
  StrictState state;
  state.Take(limit, Permits{2}, kNow);
  const Instant taken = state.latest();
  state.Take(limit, Permits{1}, kNow + seconds(1));
  state.Refund(limit, Permits{2}, kNow + seconds(2), taken);
  // What is left is the younger one.
  EXPECT_EQ(state.Peek(limit, Permits{1}, kNow + seconds(2)).remaining, Permits{2});
  EXPECT_EQ(state.ForgottenIn(kNow + seconds(2)), seconds(9));
}

}  // namespace
}  // namespace weir::authority
