#include "algorithm/limit_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <ostream>
#include <string>

#include "weir/limit.h"

namespace weir {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

struct Wrong {
  const char* text;
  const char* names;   // the thing that is wrong
  const char* remedy;  // what would be right
};
void PrintTo(const Wrong& wrong, std::ostream* out) { *out << '"' << wrong.text << '"'; }

class WrongLimit : public testing::TestWithParam<Wrong> {};

TEST_P(WrongLimit, IsAnErrorThatNamesTheThingAndTheRemedy) {
  const Result<Limit> limit = Limit::Parse(GetParam().text);
  ASSERT_FALSE(limit) << "reads as " << limit->ToString();
  EXPECT_THAT(limit.error().message, HasSubstr(GetParam().names));
  EXPECT_THAT(limit.error().message, HasSubstr(GetParam().remedy));
}

INSTANTIATE_TEST_SUITE_P(
    Rates, WrongLimit,
    testing::Values(
        Wrong{"token_bucket 0/1s", "got 0", "at least 1 permit per period"},
        Wrong{"token_bucket -1/1s", "'-1'", "a whole number of 0 or more"},
        Wrong{"token_bucket 1.5/1s", "'1.5'", "a whole number of 0 or more"},
        Wrong{"token_bucket 10/0s", "got 0ns", "the period must be longer than 0"},
        Wrong{"token_bucket 10/-1s", "'-1s'", "a duration such as 250ms"},
        Wrong{"token_bucket 10/1.5s", "'1.5s'", "a duration such as 250ms"},
        Wrong{"token_bucket 10/1x", "'1x'", "units: ns us ms s m h d"},
        Wrong{"token_bucket 10/5", "'5'", "units: ns us ms s m h d"},
        Wrong{"token_bucket 10", "'10'", "permits per period such as 10/1s"},
        Wrong{"token_bucket 10/", "''", "a duration such as 250ms"},
        Wrong{"token_bucket /1s", "''", "a whole number of 0 or more"},
        Wrong{"token_bucket", "token_bucket", "permits per period, such as 10/1s"},
        Wrong{"token_bucket 18446744073709551616/1s", "'18446744073709551616' is too large",
              "the largest number is 18446744073709551615"},
        Wrong{"token_bucket 10/300000d", "'300000d' is too long", "292 years"},
        Wrong{"token_bucket 10/99999999999999999999s", "is too large", "the largest number"},
        Wrong{"token_bucket 1000000001/1s", "got 1000000001/", "at most 1 permit per nanosecond"},
        Wrong{"fixed_window 0/1s", "got 0", "at least 1 permit per window"},
        Wrong{"fixed_window 5/0s", "got 0ns", "the period must be longer than 0"},
        Wrong{"leaky_bucket 0/1s", "got 0", "at least 1 permit per period"},
        Wrong{"sliding_window 0/1s", "got 0", "at least 1 permit per period"},
        Wrong{"sliding_counters 0/1s", "got 0", "at least 1 permit per period"},
        Wrong{"sliding_log 0/1s", "got 0", "at least 1 permit per period"},
        Wrong{"pacer 0/1s", "got 0", "at least 1 permit per period"}));

INSTANTIATE_TEST_SUITE_P(
    Options, WrongLimit,
    testing::Values(
        Wrong{"token_bucket 10/1s burst 0", "got 0", "burst must be at least 1"},
        Wrong{"token_bucket 10/1s burst -3", "burst: ", "a whole number of 0 or more"},
        Wrong{"token_bucket 10/1s burst", "'burst'", "needs a value"},
        Wrong{"token_bucket 10/1s burst 3 burst 4", "'burst'", "given twice"},
        Wrong{"token_bucket 10/1s burst 3 initial 4", "got 4", "at most the burst of 3"},
        Wrong{"token_bucket 10/1s initial 11", "got 11", "at most the burst of 10"},
        Wrong{"token_bucket 10/1s burst 18446744073709551615", "146 years", "lower the burst"},
        Wrong{"token_bucket 10/1s queue 3", "unknown option 'queue'", "has burst, initial"},
        Wrong{"token_bucket 10/month", "only fixed_window follows the calendar", "such as 1d"},
        Wrong{"leaky_bucket 10/1s free 1", "free needs a queue", "queue Q free F"},
        Wrong{"leaky_bucket 10/1s queue 1 free 2", "got 2", "at most the queue of 1"},
        Wrong{"leaky_bucket 10/1s queue 18446744073709551615", "146 years", "raise the rate"},
        Wrong{"fixed_window 5/1s start now", "'now'", "epoch or first"},
        Wrong{"fixed_window 5/1s start", "'start'", "needs a value"},
        Wrong{"fixed_window 5/1s zone UTC", "got 1s", "a day, week, month or year"},
        Wrong{"fixed_window 5/1d zone Mars/Olympus", "'Mars/Olympus'", "such as Europe/Berlin"},
        Wrong{"fixed_window 5/month start first", "starts with the calendar", "drop 'start first'"},
        Wrong{"fixed_window 5/1s count_denied count_denied", "'count_denied'", "given twice"},
        Wrong{"sliding_window 5/1s windows 3", "unknown option 'windows'", "has none"},
        Wrong{"sliding_window 3000000000/1h", "got 3000000000", "use token_bucket"},
        Wrong{"sliding_counters 5/1s windows 0", "got 0", "between 1 and 3600"},
        Wrong{"sliding_counters 5/1s windows 3601", "got 3601", "between 1 and 3600"},
        Wrong{"sliding_counters 5/5ns windows 6", "6 windows do not fit 5ns", "at least 1ns"},
        Wrong{"sliding_log 5/1s min_gap 5", "min_gap: ", "a duration such as 250ms"},
        Wrong{"sliding_log 2000000/1s", "got 2000000", "use sliding_window or token_bucket"},
        Wrong{"pacer 5/1s warm_up soon", "warm_up: ", "a duration such as 250ms"},
        Wrong{"pacer 5/1s warm_up 4s cold_factor 0.5", "got 0.5", "between 1 and 1000"},
        Wrong{"pacer 5/1s warm_up 4s cold_factor nan", "got nan", "between 1 and 1000"},
        Wrong{"pacer 5/1s warm_up 4s cold_factor hot", "'hot'", "expected a number"},
        Wrong{"pacer 5/1s warm_up 100000d", "max_burst and warm_up", "must be shorter than"},
        Wrong{"pacer 5/1s soft 10%", "no soft limit", "drop 'soft'"},
        Wrong{"token_bucket 1/1s soft", "soft", "a percentage such as 10%"},
        Wrong{"token_bucket 1/1s soft 10", "soft", "a percentage such as 10%"},
        Wrong{"token_bucket 1/1s soft -5%", "soft: ", "a whole number of 0 or more"},
        Wrong{"token_bucket 1/1s soft 1% soft 2%", "'soft'", "given twice"},
        Wrong{"token_bucket 1/1s soft 1001%", "got 1001", "at most 1000 percent"}));

INSTANTIATE_TEST_SUITE_P(
    Shape, WrongLimit,
    testing::Values(
        Wrong{"", "got nothing", "a limit such as token_bucket 10/1s"},
        Wrong{"token_bukcet 10/1s", "'token_bukcet'", "there are token_bucket, leaky_bucket"},
        Wrong{"10/1s", "'10/1s'", "there are token_bucket, leaky_bucket"},
        Wrong{"token_bucket 10/1s +", "got nothing", "a limit such as token_bucket 10/1s"},
        Wrong{"+ token_bucket 10/1s", "got nothing", "a limit such as token_bucket 10/1s"},
        Wrong{"token_bucket 1/1s + pacer 0/1s", "pacer: ", "at least 1 permit per period"},
        Wrong{"token_bucket 1/1s + token_bucket 1/1s + token_bucket 1/1s + token_bucket 1/1s + "
              "token_bucket 1/1s + token_bucket 1/1s + token_bucket 1/1s + token_bucket 1/1s + "
              "token_bucket 1/1s",
              "got 9", "at most 8 limits"}));

class LimitText : public testing::TestWithParam<const char*> {};

TEST_P(LimitText, IsWrittenAsItIsRead) {
  const Result<Limit> limit = Limit::Parse(GetParam());
  ASSERT_TRUE(limit) << limit.error().message;
  EXPECT_EQ(limit->ToString(), GetParam());
}

INSTANTIATE_TEST_SUITE_P(
    All, LimitText,
    testing::Values("token_bucket 10/1s", "token_bucket 10/1s burst 3 initial 0",
                    "token_bucket 1/365d", "token_bucket 1000000000/1s", "leaky_bucket 7/1m",
                    "leaky_bucket 7/1m queue 5 free 2", "fixed_window 5/1s",
                    "fixed_window 5/1s start first", "fixed_window 5/1s count_denied",
                    "fixed_window 5/1d", "fixed_window 5/day zone UTC",
                    "fixed_window 5/week zone Europe/Berlin", "fixed_window 5/month zone UTC",
                    "fixed_window 5/year zone Asia/Tokyo", "sliding_window 10/1s",
                    "sliding_counters 500/1h windows 60", "sliding_log 10/1m",
                    "sliding_log 10/1m min_gap 250ms count_denied", "pacer 5/1s max_burst 1s",
                    "pacer 5/1s warm_up 4s cold_factor 2.5 max_burst 1s",
                    "token_bucket 10/1m + token_bucket 500/1h soft 10%"));

TEST(LimitTextTest, ReadsShortFormsToo) {
  EXPECT_EQ(Limit::Parse("token_bucket 10/s").value(), Limit(Quota::PerSecond(10)));
  EXPECT_EQ(Limit::Parse("  token_bucket\t10/1s ").value(), Limit(Quota::PerSecond(10)));
  EXPECT_EQ(Limit::Parse("fixed_window 5/1month").value().ToString(),
            "fixed_window 5/month zone UTC");
  EXPECT_EQ(Limit::Parse("fixed_window 5/1d zone UTC").value().ToString(),
            "fixed_window 5/day zone UTC");
  EXPECT_EQ(Limit::Parse("fixed_window 5/7d zone UTC").value().ToString(),
            "fixed_window 5/week zone UTC");
  EXPECT_EQ(Limit::Parse("sliding_counters 5/1h").value().ToString(),
            "sliding_counters 5/1h windows 60");
  EXPECT_EQ(Limit::Parse("token_bucket 1/1s soft 10% burst 3").value(),
            Limit(Quota::PerSecond(1).Burst(3)).Soft(10));
}

TEST(LimitTextTest, AColdFactorReadsBackAsTheSameNumber) {
  for (const double factor : {1.1, 2.0 / 3 + 1, 999.9999999999999, 1.0}) {
    const Limit limit(Pacer{.quota = Quota::PerSecond(1), .cold_factor = factor});
    EXPECT_EQ(Limit::Parse(limit.ToString()).value(), limit) << limit.ToString();
  }
}

TEST(LimitTextTest, WithoutANameTheAlgorithmStaysWhatItWas) {
  const Limit current = Limit::Parse("token_bucket 10/1s + sliding_log 5/1s").value();
  const Result<Limit> changed = algorithm::ParseLimit("20/1s burst 6 + 7/1s min_gap 1ms", &current);
  ASSERT_TRUE(changed) << changed.error().message;
  EXPECT_EQ(changed->ToString(), "token_bucket 20/1s burst 6 + sliding_log 7/1s min_gap 1ms");
  EXPECT_EQ(algorithm::ParseLimit("pacer 1/1s", &current)->ToString(), "pacer 1/1s max_burst 1s");
  EXPECT_FALSE(algorithm::ParseLimit("1/1s + 1/1s + 1/1s", &current));
}

}  // namespace
}  // namespace weir
