#include "catalog/retriever_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "catalog/retriever_status.h"

namespace weir::catalog {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using State = RetrieverStatus::State;

TEST(RetrieverScheduleTest, WithoutJitterTheTimeDoublesWhileAwayUpToTheLongest) {
  RetrieverSchedule schedule({.interval = seconds(2), .longest = seconds(30), .jitter_percent = 0},
                             1);
  EXPECT_EQ(schedule.WaitAfter(0), seconds(2));
  EXPECT_EQ(schedule.WaitAfter(1), seconds(2));
  EXPECT_EQ(schedule.WaitAfter(2), seconds(4));
  EXPECT_EQ(schedule.WaitAfter(3), seconds(8));
  EXPECT_EQ(schedule.WaitAfter(4), seconds(16));
  EXPECT_EQ(schedule.WaitAfter(5), seconds(30));
  EXPECT_EQ(schedule.WaitAfter(1'000'000'000), seconds(30));
  EXPECT_EQ(schedule.WaitAfter(0), seconds(2));
}

TEST(RetrieverScheduleTest, JitterReachesAsFarAsItSaysAndNoFarther) {
  RetrieverSchedule schedule({.interval = seconds(2), .jitter_percent = 20}, 1);
  milliseconds least = milliseconds::max();
  milliseconds most{0};
  milliseconds sum{0};
  for (int i = 0; i < 10'000; ++i) {
    const milliseconds wait = schedule.WaitAfter(0);
    least = std::min(least, wait);
    most = std::max(most, wait);
    sum += wait;
  }
  EXPECT_GE(least, milliseconds(1600));
  EXPECT_LT(least, milliseconds(1620));
  EXPECT_LE(most, milliseconds(2400));
  EXPECT_GT(most, milliseconds(2380));
  EXPECT_NEAR(static_cast<double>(sum.count()) / 10'000, 2000, 20);
}

TEST(RetrieverScheduleTest, OptionsThatMakeNoSenseNeverMakeItSpin) {
  RetrieverSchedule schedule(
      {.interval = seconds(-1), .longest = seconds(-5), .jitter_percent = 1000}, 1);
  for (int i = 0; i < 1000; ++i) EXPECT_GE(schedule.WaitAfter(i), milliseconds(1));
}

TEST(RetrieverScheduleTest, AnIntervalLongerThanTheLongestStaysAsItIs) {
  RetrieverSchedule schedule({.interval = seconds(60), .longest = seconds(30), .jitter_percent = 0},
                             1);
  EXPECT_EQ(schedule.WaitAfter(0), seconds(60));
  EXPECT_EQ(schedule.WaitAfter(9), seconds(60));
}

// --- status --------------------------------------------------------------------------------------

RetrieverStatus::Time At(int second) { return RetrieverStatus::Time(seconds(second)); }

Retrieved Rules(const std::string& version) {
  return {.outcome = Retrieved::Outcome::kRules,
          .sets = {},
          .version = version,
          .problems = {},
          .away = ""};
}
Retrieved Bad(const std::string& version, const std::string& what) {
  return {.outcome = Retrieved::Outcome::kBad,
          .sets = {},
          .version = version,
          .problems = {{"rules.yaml", {3, 1}, "", what, ""}},
          .away = ""};
}
Retrieved Away(const std::string& why) {
  return {
      .outcome = Retrieved::Outcome::kAway, .sets = {}, .version = "", .problems = {}, .away = why};
}

TEST(RetrieverStatusTest, BeginsWithoutRules) {
  RetrieverStatus status;
  status.source = "the file rules.yaml";
  EXPECT_EQ(status.state(), State::kNoRules);
  EXPECT_EQ(status.ToString(), "the file rules.yaml: no rules are in force");
  status.Note(Away("it is gone"), {}, At(1));
  EXPECT_EQ(status.state(), State::kAway);
  EXPECT_EQ(status.ToString(),
            "the file rules.yaml: no rules are in force; away since 1970-01-01T00:00:01Z: it is "
            "gone");
}

TEST(RetrieverStatusTest, BadRulesLeaveTheVersionThatIsInForce) {
  RetrieverStatus status;
  status.source = "the file rules.yaml";
  status.Note(Rules("1"), {}, At(1));
  status.Note(Bad("2", "nonsense"), {}, At(2));
  status.Note({}, {}, At(3));
  EXPECT_EQ(status.state(), State::kBad);
  EXPECT_EQ(status.version, "1");
  EXPECT_EQ(status.since, At(1));
  EXPECT_EQ(status.bad_version, "2");
  EXPECT_EQ(status.bad_since, At(2));
  EXPECT_EQ(status.last_look, At(3));
  EXPECT_EQ(status.failures, 0);
  EXPECT_EQ(status.ToString(),
            "the file rules.yaml: version 1 is in force since 1970-01-01T00:00:01Z; what is there "
            "since 1970-01-01T00:00:02Z cannot be used:\n  rules.yaml:3:1: nonsense");
  status.Note(Rules("3"), {}, At(4));
  EXPECT_EQ(status.state(), State::kInForce);
  EXPECT_EQ(status.version, "3");
  EXPECT_EQ(status.published, 2);
  EXPECT_EQ(status.problems.size(), 1) << "the last trouble stays to be read";
}

TEST(RetrieverStatusTest, RulesThatTheLimiterRefusesAreBad) {
  RetrieverStatus status;
  status.Note(Rules("1"), {}, At(1));
  status.Note(Rules("2"), {{"2", {}, "login", "too many attributes", ""}}, At(2));
  EXPECT_EQ(status.state(), State::kBad);
  EXPECT_EQ(status.version, "1");
  EXPECT_EQ(status.problems[0].rule, "login");
}

TEST(RetrieverStatusTest, AwayCountsItsFailuresAndIsOverWithTheNextLook) {
  RetrieverStatus status;
  status.Note(Rules("1"), {}, At(1));
  status.Note(Away("no route"), {}, At(2));
  status.Note(Away("refused"), {}, At(3));
  EXPECT_EQ(status.state(), State::kAway);
  EXPECT_EQ(status.failures, 2);
  EXPECT_EQ(status.away_since, At(2));
  EXPECT_EQ(status.away, "refused");
  EXPECT_EQ(status.version, "1");
  status.Note({}, {}, At(4));
  EXPECT_EQ(status.state(), State::kInForce);
  EXPECT_EQ(status.failures, 0);
  EXPECT_EQ(status.since, At(1));
  status.Note(Away("again"), {}, At(5));
  EXPECT_EQ(status.away_since, At(5));
}

TEST(RetrieverStatusTest, WhatWasBadIsStillBadWhenItComesBack) {
  RetrieverStatus status;
  status.Note(Rules("1"), {}, At(1));
  status.Note(Bad("2", "nonsense"), {}, At(2));
  status.Note(Away("gone"), {}, At(3));
  EXPECT_EQ(status.state(), State::kAway);
  status.Note({}, {}, At(4));
  EXPECT_EQ(status.state(), State::kBad);
}

}  // namespace
}  // namespace weir::catalog
