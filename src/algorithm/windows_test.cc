#include "algorithm/windows.h"

#include <absl/time/civil_time.h>
#include <absl/time/time.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "base/time.h"

namespace weir::algorithm {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kHour = 3'600'000'000'000;
constexpr std::uint64_t kDay = 24 * kHour;

// "2024-03-31T12:00:00+02:00" in nanoseconds since the epoch.
std::uint64_t When(const std::string& text) {
  absl::Time time;
  std::string problem;
  EXPECT_TRUE(absl::ParseTime(absl::RFC3339_full, text, &time, &problem)) << text << problem;
  return static_cast<std::uint64_t>(absl::ToUnixNanos(time));
}

Windows CalendarOf(CalendarUnit unit, const std::string& zone) {
  return Windows::Of(Calendar{unit, zone}).value();
}

std::uint64_t LengthAt(const Windows& windows, const std::string& when) {
  const Windows::Span span = windows.At(When(when));
  return span.end_ns - span.start_ns;
}

TEST(WindowsTest, EqualWindowsFollowEachOtherFromTheEpoch) {
  const Windows windows = Windows::Equal(1s);
  EXPECT_EQ(windows.At(0).number, 0U);
  EXPECT_EQ(windows.At(999'999'999).number, 0U);
  EXPECT_EQ(windows.At(1'000'000'000).number, 1U);
  EXPECT_EQ(windows.At(1'500'000'000).start_ns, 1'000'000'000U);
  EXPECT_EQ(windows.At(1'500'000'000).end_ns, 2'000'000'000U);
}

TEST(WindowsTest, PartsThatAreNoWholeNanosecondsStillFillThePeriod) {
  const Windows windows = Windows::Equal(10ns, 3);  // borders at 3.33 and 6.67
  EXPECT_EQ(windows.StartOf(1), 4U);
  EXPECT_EQ(windows.StartOf(2), 7U);
  EXPECT_EQ(windows.StartOf(3), 10U);
  EXPECT_EQ(windows.At(3).number, 0U);
  EXPECT_EQ(windows.At(4).number, 1U);
  EXPECT_EQ(windows.At(6).number, 1U);
  EXPECT_EQ(windows.At(7).number, 2U);
}

TEST(WindowsTest, TheLastInstantHasAWindowToo) {
  const std::uint64_t last = ToNanos(Instant::max());
  for (const Nanos period : {Nanos(1ns), Nanos(7ns), Nanos(1s), Nanos::max()}) {
    const Windows::Span span = Windows::Equal(period).At(last);
    EXPECT_LE(span.start_ns, last);
    EXPECT_GT(span.end_ns, last);
  }
}

TEST(WindowsTest, ADayHas23HoursWhenTheClockGoesForward) {
  const Windows days = CalendarOf(CalendarUnit::kDay, "Europe/Berlin");
  EXPECT_EQ(LengthAt(days, "2024-03-31T12:00:00+02:00"), 23 * kHour);
  EXPECT_EQ(LengthAt(days, "2024-03-30T12:00:00+01:00"), 24 * kHour);
}

TEST(WindowsTest, ADayHas25HoursWhenTheClockGoesBack) {
  const Windows days = CalendarOf(CalendarUnit::kDay, "Europe/Berlin");
  EXPECT_EQ(LengthAt(days, "2024-10-27T12:00:00+01:00"), 25 * kHour);
}

TEST(WindowsTest, ADayWithoutMidnightStartsAtItsFirstInstant) {
  // In Sao Paulo the 4th of November 2018 began at one o'clock.
  const Windows days = CalendarOf(CalendarUnit::kDay, "America/Sao_Paulo");
  const Windows::Span day = days.At(When("2018-11-04T12:00:00-02:00"));
  EXPECT_EQ(day.start_ns, When("2018-11-04T01:00:00-02:00"));
  EXPECT_EQ(day.end_ns - day.start_ns, 23 * kHour);
  EXPECT_EQ(days.At(day.start_ns - 1).number, day.number - 1);
}

TEST(WindowsTest, ADayWithTwoMidnightsStartsAtTheFirst) {
  // In St. John's a minute after midnight the clock went back to 23:01.
  const Windows days = CalendarOf(CalendarUnit::kDay, "America/St_Johns");
  const Windows::Span day = days.At(When("2010-11-07T12:00:00-03:30"));
  EXPECT_EQ(day.start_ns, When("2010-11-07T00:00:00-02:30"));
  EXPECT_EQ(day.end_ns - day.start_ns, 25 * kHour);
  // What the clock shows as 23:30 of the 6th for the second time is already the 7th.
  EXPECT_EQ(days.At(When("2010-11-06T23:30:00-03:30")).number, day.number);
  EXPECT_EQ(days.At(When("2010-11-06T23:30:00-02:30")).number, day.number - 1);
}

TEST(WindowsTest, ADayThatAPlaceSkippedDoesNotExist) {
  // Samoa crossed the date line: the 29th of December 2011 was followed by the 31st.
  const Windows days = CalendarOf(CalendarUnit::kDay, "Pacific/Apia");
  const Windows::Span before = days.At(When("2011-12-29T12:00:00-10:00"));
  const Windows::Span after = days.At(When("2011-12-31T12:00:00+14:00"));
  EXPECT_EQ(before.end_ns, after.start_ns);
  EXPECT_EQ(after.number, before.number + 2);
  EXPECT_EQ(after.end_ns - after.start_ns, kDay);
}

TEST(WindowsTest, MonthsAndYearsAreAsLongAsTheyAre) {
  const Windows months = CalendarOf(CalendarUnit::kMonth, "UTC");
  EXPECT_EQ(LengthAt(months, "2023-02-28T23:59:59Z"), 28 * kDay);
  EXPECT_EQ(LengthAt(months, "2024-02-10T00:00:00Z"), 29 * kDay);
  EXPECT_EQ(LengthAt(months, "2024-12-31T00:00:00Z"), 31 * kDay);
  const Windows years = CalendarOf(CalendarUnit::kYear, "UTC");
  EXPECT_EQ(LengthAt(years, "2023-06-01T00:00:00Z"), 365 * kDay);
  EXPECT_EQ(LengthAt(years, "2024-06-01T00:00:00Z"), 366 * kDay);
  EXPECT_EQ(LengthAt(years, "2100-06-01T00:00:00Z"), 365 * kDay);
}

TEST(WindowsTest, MonthsHaveTheirClockChanges) {
  const Windows months = CalendarOf(CalendarUnit::kMonth, "Europe/Berlin");
  EXPECT_EQ(LengthAt(months, "2024-03-10T00:00:00Z"), 31 * kDay - kHour);
  EXPECT_EQ(LengthAt(months, "2024-10-10T00:00:00Z"), 31 * kDay + kHour);
}

TEST(WindowsTest, WeeksStartOnMonday) {
  const Windows weeks = CalendarOf(CalendarUnit::kWeek, "UTC");
  EXPECT_EQ(weeks.At(When("2024-05-19T23:59:59Z")).start_ns, When("2024-05-13T00:00:00Z"));
  EXPECT_EQ(weeks.At(When("2024-05-20T00:00:00Z")).start_ns, When("2024-05-20T00:00:00Z"));
  const Windows in_tokyo = CalendarOf(CalendarUnit::kWeek, "Asia/Tokyo");
  EXPECT_EQ(in_tokyo.At(When("2024-05-19T23:00:00Z")).start_ns, When("2024-05-20T00:00:00+09:00"));
}

TEST(WindowsTest, TheEpochIsFineInPlacesBehindGreenwich) {
  const Windows years = CalendarOf(CalendarUnit::kYear, "America/Los_Angeles");
  const Windows::Span span = years.At(0);  // still 1969 there
  EXPECT_EQ(span.start_ns, 0U);
  EXPECT_EQ(span.end_ns, 8 * kHour);
}

TEST(WindowsTest, CalendarWindowsFollowEachOtherWithoutAGap) {
  for (const char* zone : {"UTC", "Europe/Berlin", "America/Sao_Paulo", "America/St_Johns",
                           "America/Havana", "Pacific/Apia", "Asia/Tehran", "Australia/Lord_Howe",
                           "Africa/Cairo", "Pacific/Kwajalein"}) {
    for (const CalendarUnit unit :
         {CalendarUnit::kDay, CalendarUnit::kWeek, CalendarUnit::kMonth, CalendarUnit::kYear}) {
      const Windows windows = CalendarOf(unit, zone);
      Windows::Span span = windows.At(0);
      while (span.start_ns < 70 * 365 * kDay) {
        ASSERT_LT(span.start_ns, span.end_ns) << zone;
        ASSERT_LE(span.end_ns - span.start_ns, windows.longest_ns()) << zone;
        ASSERT_EQ(windows.StartOf(span.number), span.start_ns) << zone;
        ASSERT_EQ(windows.At(span.end_ns - 1).number, span.number) << zone << span.number;
        const Windows::Span next = windows.At(span.end_ns);
        ASSERT_EQ(next.start_ns, span.end_ns) << zone;
        ASSERT_GT(next.number, span.number) << zone;
        span = next;
      }
    }
  }
}

TEST(WindowsTest, AnUnknownTimeZoneIsAnErrorThatNamesIt) {
  const auto windows = Windows::Of(Calendar{CalendarUnit::kDay, "Mars/Olympus"});
  ASSERT_FALSE(windows);
  EXPECT_THAT(windows.error().message, testing::HasSubstr("unknown time zone 'Mars/Olympus'"));
  EXPECT_THAT(windows.error().message, testing::HasSubstr("use a name such as Europe/Berlin"));
  EXPECT_FALSE(Windows::Of(Calendar{CalendarUnit::kDay, ""}));
}

}  // namespace
}  // namespace weir::algorithm
