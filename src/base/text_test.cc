#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace weir {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(TextTest, WordsAreSeparatedByBlanks) {
  EXPECT_THAT(SplitWords("  a \t bc\r"), ElementsAre("a", "bc"));
  EXPECT_THAT(SplitWords(""), IsEmpty());
  EXPECT_THAT(SplitWords(" \t\r"), IsEmpty());
}

TEST(TextTest, ACountIsDigitsOnly) {
  EXPECT_EQ(ParseCount("0").value(), 0U);
  EXPECT_EQ(ParseCount("007").value(), 7U);
  EXPECT_EQ(ParseCount("18446744073709551615").value(), 18446744073709551615U);
  for (const char* wrong : {"", "-1", "+1", " 1", "1 ", "1e3", "0x10", "ten"}) {
    const auto count = ParseCount(wrong);
    ASSERT_FALSE(count) << wrong;
    EXPECT_EQ(count.error().message,
              "expected a whole number of 0 or more, got '" + std::string(wrong) + "'");
  }
  EXPECT_THAT(ParseCount("18446744073709551616").error().message, HasSubstr("is too large"));
}

TEST(TextTest, ADurationIsANumberAndAUnit) {
  EXPECT_EQ(ParseDuration("5ns").value(), 5ns);
  EXPECT_EQ(ParseDuration("5us").value(), 5us);
  EXPECT_EQ(ParseDuration("250ms").value(), 250ms);
  EXPECT_EQ(ParseDuration("90s").value(), 90s);
  EXPECT_EQ(ParseDuration("2m").value(), 2min);
  EXPECT_EQ(ParseDuration("2min").value(), 2min);
  EXPECT_EQ(ParseDuration("3h").value(), 3h);
  EXPECT_EQ(ParseDuration("365d").value(), 365 * 24h);
  EXPECT_EQ(ParseDuration("h").value(), 1h);
  EXPECT_EQ(ParseDuration("0s").value(), 0s);
  EXPECT_EQ(ParseDuration("9223372036854775807ns").value(), Nanos::max());
}

TEST(TextTest, AWrongDurationSaysWhatWouldBeRight) {
  for (const char* wrong : {"", "5", "-5s", "1.5s", "5 s", "5sec", "s5", "5S"}) {
    const auto duration = ParseDuration(wrong);
    ASSERT_FALSE(duration) << wrong;
    EXPECT_EQ(duration.error().message,
              "expected a duration such as 250ms (units: ns us ms s m h d), got '" +
                  std::string(wrong) + "'");
  }
  for (const char* too_long : {"9223372036854775808ns", "107000d", "18446744073709551615h"}) {
    EXPECT_THAT(ParseDuration(too_long).error().message, HasSubstr("is too long")) << too_long;
  }
}

TEST(TextTest, ADurationIsWrittenInTheLargestUnitThatIsExact) {
  EXPECT_EQ(FormatDuration(0ns), "0s");
  EXPECT_EQ(FormatDuration(1500ms), "1500ms");
  EXPECT_EQ(FormatDuration(90s), "90s");
  EXPECT_EQ(FormatDuration(60s), "1m");
  EXPECT_EQ(FormatDuration(25h), "25h");
  EXPECT_EQ(FormatDuration(48h), "2d");
  EXPECT_EQ(FormatDuration(-1500us), "-1500us");
  EXPECT_EQ(FormatDuration(Nanos::max()), "9223372036854775807ns");
  EXPECT_EQ(FormatDuration(Nanos::min()), "-9223372036854775807ns");
}

TEST(TextTest, WhatIsWrittenReadsBack) {
  for (const Nanos d : {Nanos(1), Nanos(999), Nanos(1000), Nanos(1'000'000'001), Nanos(1h),
                        Nanos(61min), Nanos(86'400s), Nanos::max()}) {
    EXPECT_EQ(ParseDuration(FormatDuration(d)).value(), d);
  }
}

}  // namespace
}  // namespace weir
