#include "service/descriptor_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rule/any_file.h"

namespace weir {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::IsEmpty;

// Noon on a day in 2026: the first instant of a second, a minute and an hour.
constexpr Instant kNoon{seconds(1'780'315'200)};

// A descriptor as a test writes it.
struct Asked {
  std::vector<rule::RequestEntry> entries;
  std::optional<std::uint64_t> hits = {};
  HitsAre hits_are = HitsAre::kTaken;
  std::optional<LimitOverride> limit = {};
};

class DescriptorCheckTest : public testing::Test {
 protected:
  DescriptorCheckTest()
      : checker_(std::move(Ledger::Open({.max_keys = 10'000})).value(), {}),
        descriptors_(std::in_place, checker_) {}

  // A file, of Envoy's or ours.
  void Use(const std::string& file) {
    rule::Problems problems;
    const auto set = rule::ReadAnyRules(file, "test.yaml", problems);
    for (const auto& problem : problems) ADD_FAILURE() << problem.ToString();
    ASSERT_TRUE(set.has_value());
    EXPECT_THAT(checker_.Publish({*set}, "test"), IsEmpty());
  }
  void UseOptions(DescriptorOptions options) { descriptors_.emplace(checker_, options); }
  const DescriptorReply& Check(const std::vector<Asked>& asked, Instant now = kNoon,
                               std::uint32_t hits = 0, std::string_view domain = "shop") {
    asks_.clear();
    for (const Asked& one : asked) {
      asks_.push_back({one.entries, one.hits, one.hits_are, one.limit});
    }
    descriptors_->Check({domain, asks_, hits}, now, reply_);
    return reply_;
  }
  // The status of one descriptor that is asked alone.
  const DescriptorStatus& Ask(Asked asked, Instant now = kNoon) {
    kept_ = {std::move(asked)};
    return Check(kept_, now).statuses()[0];
  }

  Checker checker_;
  DescriptorReply reply_;

 private:
  std::optional<DescriptorChecker> descriptors_;
  std::vector<DescriptorAsk> asks_;
  std::vector<Asked> kept_;
};

constexpr const char* kTwoPerMinute = R"(
domain: shop
descriptors:
  - key: user
    rate_limit: {unit: minute, requests_per_unit: 2, name: per_user}
)";

TEST_F(DescriptorCheckTest, TellsTheLimitWhatIsLeftAndWhenTheWindowEnds) {
  Use(kTwoPerMinute);
  const DescriptorStatus& first = Ask({{{"user", "ann"}}}, kNoon + milliseconds(1500));
  EXPECT_FALSE(first.over);
  EXPECT_EQ(first.limit, (ToldLimit{2, LimitUnit::kMinute, "per_user"}));
  EXPECT_EQ(first.remaining, 1U);
  EXPECT_EQ(first.until_reset, milliseconds(58'500));
  EXPECT_EQ(Ask({{{"user", "ann"}}}, kNoon + seconds(2)).remaining, 0U);
  EXPECT_TRUE(reply_.allowed());
  EXPECT_TRUE(Ask({{{"user", "ann"}}}, kNoon + seconds(3)).over);
  EXPECT_FALSE(reply_.allowed());
  EXPECT_EQ(reply_.statuses()[0].remaining, 0U);
  EXPECT_FALSE(Ask({{{"user", "bob"}}}, kNoon + seconds(3)).over);
  EXPECT_FALSE(Ask({{{"user", "ann"}}}, kNoon + minutes(1)).over);
  EXPECT_EQ(reply_.statuses()[0].until_reset, minutes(1));
}

TEST_F(DescriptorCheckTest, ADomainThatNobodyKnowsPassesAndIsToldOfNoLimit) {
  EXPECT_FALSE(Check({{{{"user", "ann"}}}}).has_rules());
  Use(kTwoPerMinute);
  const DescriptorReply& reply = Check(
      {{{{"user", "ann"}}}, {{{"user", "ann"}}, {}, {}, LimitOverride{0, LimitUnit::kSecond}}},
      kNoon, 5, "elsewhere");
  EXPECT_TRUE(reply.has_rules());
  EXPECT_FALSE(reply.knows_domain());
  EXPECT_TRUE(reply.allowed());
  ASSERT_EQ(reply.statuses().size(), 2U);
  for (const DescriptorStatus& status : reply.statuses()) {
    EXPECT_FALSE(status.over);
    EXPECT_FALSE(status.limit);
    EXPECT_EQ(status.remaining, 0U);
  }
}

TEST_F(DescriptorCheckTest, HitsOfTheDescriptorBeatThoseOfTheRequestAndZeroOnlyLooks) {
  Use("domain: shop\ndescriptors:\n"
      "- {key: user, rate_limit: {unit: hour, requests_per_unit: 10}}\n");
  EXPECT_EQ(Check({{{{"user", "ann"}}}}, kNoon, 0).statuses()[0].remaining, 9U);
  EXPECT_EQ(Check({{{{"user", "ann"}}}}, kNoon, 3).statuses()[0].remaining, 6U);
  EXPECT_EQ(Check({{{{"user", "ann"}}, 2}}, kNoon, 3).statuses()[0].remaining, 4U);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(Check({{{{"user", "ann"}}, 0}}, kNoon, 3).statuses()[0].remaining, 4U);
  }
  EXPECT_EQ(Ask({{{"user", "ann"}}, 4}).remaining, 0U);
  EXPECT_FALSE(Ask({{{"user", "ann"}}, 0}).over);  // at the limit, not over it
  EXPECT_TRUE(Ask({{{"user", "ann"}}, 1}).over);
  EXPECT_TRUE(Ask({{{"user", "ann"}}, 0}).over);
}

TEST_F(DescriptorCheckTest, WhatIsOverTheLimitIsCountedToo) {
  Use("domain: shop\ndescriptors:\n"
      "- {key: user, rate_limit: {unit: hour, requests_per_unit: 10}}\n");
  EXPECT_TRUE(Ask({{{"user", "ann"}}, 13}).over);  // more than the limit can ever hold
  EXPECT_TRUE(Ask({{{"user", "ann"}}, 1}).over);
  // 14 were counted: giving 4 back leaves the limit used up, and no more than that.
  EXPECT_FALSE(Ask({{{"user", "ann"}}, 4, HitsAre::kGivenBack}).over);
  EXPECT_EQ(reply_.statuses()[0].remaining, 0U);
  EXPECT_TRUE(Ask({{{"user", "ann"}}, 1}).over);
}

TEST_F(DescriptorCheckTest, HitsThatAreGivenBackNeverMakeMoreThanTheLimit) {
  Use("domain: shop\ndescriptors:\n"
      "- {key: user, rate_limit: {unit: hour, requests_per_unit: 10}}\n");
  EXPECT_EQ(Ask({{{"user", "ann"}}, 6}).remaining, 4U);
  EXPECT_EQ(Ask({{{"user", "ann"}}, 2, HitsAre::kGivenBack}).remaining, 6U);
  EXPECT_EQ(Ask({{{"user", "ann"}}, 100, HitsAre::kGivenBack}).remaining, 10U);
  EXPECT_EQ(Ask({{{"user", "ann"}}, 1}).remaining, 9U);
}

TEST_F(DescriptorCheckTest, HitsBeyondAnythingCountableAreOverAndUseUpTheWindow) {
  Use(kTwoPerMinute);
  EXPECT_TRUE(Ask({{{"user", "ann"}}, UINT64_MAX}).over);
  EXPECT_TRUE(Ask({{{"user", "ann"}}, 0}).over);
  EXPECT_FALSE(Ask({{{"user", "ann"}}}, kNoon + minutes(1)).over);
}

TEST_F(DescriptorCheckTest, EveryDescriptorIsCountedWhateverTheOthersSay) {
  Use(R"(
domain: shop
descriptors:
  - {key: user, rate_limit: {unit: hour, requests_per_unit: 1}}
  - {key: path, rate_limit: {unit: hour, requests_per_unit: 10}}
)");
  const std::vector<Asked> both = {{{{"user", "ann"}}}, {{{"path", "/"}}}};
  EXPECT_TRUE(Check(both).allowed());
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(Check(both).allowed());
  EXPECT_EQ(reply_.statuses()[1].remaining, 6U);
  EXPECT_FALSE(reply_.statuses()[1].over);
  EXPECT_EQ(reply_.decisive(), &reply_.statuses()[0]);
}

TEST_F(DescriptorCheckTest, TheSameDescriptorTwiceInARequestCountsTwice) {
  Use(kTwoPerMinute);
  const std::vector<Asked> twice = {{{{"user", "ann"}}}, {{{"user", "ann"}}}};
  EXPECT_EQ(Check(twice).statuses()[0].remaining, 1U);
  EXPECT_EQ(reply_.statuses()[1].remaining, 0U);
  EXPECT_FALSE(Check(twice).allowed());
}

TEST_F(DescriptorCheckTest, UnlimitedHasAllThereIsAndWhitelistedIsToldNothing) {
  Use(R"(
domain: shop
descriptors:
  - {key: partner, rate_limit: {unlimited: true}}
  - {key: health}
)");
  const DescriptorReply& reply = Check({{{{"partner", "acme"}}}, {{{"health", "1"}}}, {{}}});
  EXPECT_TRUE(reply.allowed());
  EXPECT_EQ(reply.statuses()[0].remaining, 4294967295U);
  EXPECT_FALSE(reply.statuses()[0].limit);
  EXPECT_EQ(reply.statuses()[1].remaining, 0U);
  EXPECT_FALSE(reply.statuses()[1].limit);
  EXPECT_EQ(reply.decisive(), nullptr);
}

TEST_F(DescriptorCheckTest, WhatIsReplacedIsNeitherCountedNorTold) {
  Use(R"(
domain: shop
descriptors:
  - {key: path, rate_limit: {unit: hour, requests_per_unit: 1, name: per_path}}
  - {key: partner, rate_limit: {unit: hour, requests_per_unit: 5, replaces: [{name: per_path}]}}
)");
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(Check({{{{"path", "/"}}}, {{{"partner", "acme"}}}}).allowed());
    EXPECT_FALSE(reply_.statuses()[0].limit);
    EXPECT_EQ(reply_.statuses()[0].rule, nullptr);
  }
  EXPECT_EQ(reply_.statuses()[1].remaining, 2U);
  EXPECT_EQ(Ask({{{"path", "/"}}}).remaining, 0U);
}

TEST_F(DescriptorCheckTest, InShadowModeItIsCountedAndNobodyIsRefused) {
  Use("domain: shop\ndescriptors:\n"
      "- {key: user, shadow_mode: true, rate_limit: {unit: hour, requests_per_unit: 1}}\n");
  EXPECT_FALSE(Ask({{{"user", "ann"}}}).over_in_shadow);
  const DescriptorStatus& status = Ask({{{"user", "ann"}}});
  EXPECT_TRUE(reply_.allowed());
  EXPECT_FALSE(status.over);
  EXPECT_TRUE(status.over_in_shadow);
  EXPECT_EQ(status.remaining, 0U);
  EXPECT_TRUE(status.limit);
}

TEST_F(DescriptorCheckTest, QuotasRefuseOnlyIfAllOfThemAreOver) {
  Use(R"(
domain: shop
descriptors:
  - {key: small, quota_mode: true, rate_limit: {unit: hour, requests_per_unit: 1}}
  - {key: large, quota_mode: true, rate_limit: {unit: hour, requests_per_unit: 2}}
  - {key: plain, rate_limit: {unit: hour, requests_per_unit: 9}}
)");
  const std::vector<Asked> all = {{{{"small", ""}}}, {{{"large", ""}}}, {{{"plain", ""}}}};
  EXPECT_TRUE(Check(all).allowed());
  EXPECT_TRUE(Check(all).allowed());
  EXPECT_TRUE(reply_.statuses()[0].over);  // its own code stays what it is
  EXPECT_FALSE(Check(all).allowed());
  EXPECT_TRUE(reply_.statuses()[1].over);
  EXPECT_FALSE(reply_.statuses()[2].over);
}

TEST_F(DescriptorCheckTest, ModesOfTheServerSpeakOfAllDescriptors) {
  Use(R"(
domain: shop
descriptors:
  - {key: user, rate_limit: {unit: hour, requests_per_unit: 1}}
)");
  Ask({{{"user", "ann"}}});
  UseOptions({.shadow_mode = true});
  EXPECT_TRUE(Ask({{{"user", "ann"}}}).over);
  EXPECT_TRUE(reply_.allowed());
  UseOptions({.quota_mode = true});
  EXPECT_FALSE(Check({{{{"user", "ann"}}}}).allowed());
  EXPECT_TRUE(Check({{{{"user", "ann"}}}, {{{"nothing", ""}}}}).allowed());
}

TEST_F(DescriptorCheckTest, BlockedIsAlwaysOverAndToldWithItsUnit) {
  Use("domain: shop\ndescriptors:\n"
      "- {key: user, rate_limit: {unit: minute, requests_per_unit: 0}}\n");
  const DescriptorStatus& status = Ask({{{"user", "ann"}}, 0}, kNoon + seconds(10));
  EXPECT_TRUE(status.over);
  EXPECT_EQ(status.limit, (ToldLimit{0, LimitUnit::kMinute, ""}));
  EXPECT_EQ(status.until_reset, seconds(50));
}

TEST_F(DescriptorCheckTest, ALimitThatComesAlongCountsInsteadOfTheRules) {
  Use(kTwoPerMinute);
  const auto ask = [&](std::uint32_t requests, LimitUnit unit, std::string_view user = "ann") {
    return Ask({{{"user", user}}, {}, HitsAre::kTaken, LimitOverride{requests, unit}});
  };
  EXPECT_EQ(ask(5, LimitUnit::kHour).remaining, 4U);
  EXPECT_EQ(reply_.statuses()[0].limit, (ToldLimit{5, LimitUnit::kHour, ""}));
  EXPECT_EQ(ask(3, LimitUnit::kHour).remaining, 1U);  // another number finds the same count
  EXPECT_TRUE(ask(2, LimitUnit::kHour).over);
  EXPECT_EQ(ask(5, LimitUnit::kDay).remaining, 4U);  // another unit does not
  EXPECT_EQ(ask(5, LimitUnit::kHour, "bob").remaining, 4U);
  EXPECT_TRUE(ask(0, LimitUnit::kSecond).over);
  EXPECT_FALSE(ask(4294967295U, LimitUnit::kSecond).over);
  EXPECT_EQ(Ask({{{"user", "ann"}}}).remaining, 1U);
}

TEST_F(DescriptorCheckTest, ADomainWithoutRulesHasTheLimitsThatComeAlong) {
  Use("domain: shop\n");
  const Asked asked{{{"user", "ann"}}, {}, HitsAre::kTaken, LimitOverride{1, LimitUnit::kYear}};
  EXPECT_FALSE(Ask(asked).over);
  EXPECT_TRUE(Ask(asked).over);
}

TEST_F(DescriptorCheckTest, ALimitThatIsChangedFindsTheSameCount) {
  Use(kTwoPerMinute);
  for (int i = 0; i < 4; ++i) Ask({{{"user", "ann"}}});
  Use("domain: shop\ndescriptors:\n"
      "- {key: user, rate_limit: {unit: minute, requests_per_unit: 10}}\n");
  EXPECT_EQ(Ask({{{"user", "ann"}}}).remaining, 5U);
}

TEST_F(DescriptorCheckTest, ARuleThatExpiredLimitsAndReplacesNothing) {
  Use(R"(
namespace: shop
rules:
  - {name: a, descriptor: [{key: user}], limit: fixed_window 1/h count_denied, limit_name: a}
  - name: b
    descriptor: [{key: path}]
    limit: fixed_window 1/h count_denied
    replaces: [a]
    expires: 2026-06-01T13:00:00Z
)");
  const std::vector<Asked> both = {{{{"user", "ann"}}}, {{{"path", "/"}}}};
  EXPECT_FALSE(Check(both).statuses()[0].limit);
  EXPECT_TRUE(reply_.statuses()[1].limit);
  EXPECT_TRUE(Check(both, kNoon + hours(1)).statuses()[0].limit);
  EXPECT_FALSE(reply_.statuses()[1].limit);
}

TEST_F(DescriptorCheckTest, OtherLimitsAreAllOrNothingAmongEachOther) {
  Use(R"(
namespace: shop
rules:
  - {name: bucket, descriptor: [{key: user}], limit: token_bucket 3/h}
  - {name: log, descriptor: [{key: path}], limit: sliding_log 1/h}
  - {name: window, descriptor: [{key: host}], limit: fixed_window 9/h count_denied}
)");
  const std::vector<Asked> all = {{{{"user", "ann"}}}, {{{"path", "/"}}}, {{{"host", "a"}}}};
  EXPECT_TRUE(Check(all).allowed());
  EXPECT_EQ(reply_.statuses()[0].limit, (ToldLimit{3, LimitUnit::kHour, ""}));
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(Check(all).allowed());
  EXPECT_TRUE(reply_.statuses()[1].over);
  EXPECT_FALSE(reply_.statuses()[0].over);
  EXPECT_EQ(reply_.statuses()[0].remaining, 2U);  // nothing was taken
  EXPECT_EQ(reply_.statuses()[2].remaining, 5U);  // counted all the same
}

TEST_F(DescriptorCheckTest, OtherLimitsAreOnlyLookedAtIfSomethingElseRefuses) {
  Use(R"(
namespace: shop
rules:
  - {name: bucket, descriptor: [{key: user}], limit: token_bucket 3/10m}
  - {name: shadow, descriptor: [{key: path}], limit: token_bucket 3/h, mode: shadow}
  - {name: blocked, descriptor: [{key: host}], limit: blocked}
)");
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(Check({{{{"user", "a"}}}, {{{"path", "/"}}}, {{{"host", "x"}}}}).allowed());
  }
  EXPECT_EQ(reply_.statuses()[0].remaining, 3U);
  EXPECT_EQ(reply_.statuses()[0].limit, (ToldLimit{3, LimitUnit::kUnknown, ""}));
  EXPECT_EQ(reply_.statuses()[1].remaining, 3U);
  EXPECT_FALSE(reply_.statuses()[2].until_reset);  // no waiting helps
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(Check({{{{"path", "/"}}}}).allowed());
  EXPECT_TRUE(reply_.statuses()[0].over_in_shadow);
}

TEST_F(DescriptorCheckTest, HitsAreGivenBackToOtherLimitsToo) {
  Use("namespace: shop\nrules:\n"
      "- {name: bucket, descriptor: [{key: user}], limit: token_bucket 3/h}\n");
  EXPECT_EQ(Ask({{{"user", "ann"}}, 3}).remaining, 0U);
  EXPECT_EQ(Ask({{{"user", "ann"}}, 0}).remaining, 0U);
  EXPECT_FALSE(reply_.statuses()[0].over);
  EXPECT_EQ(Ask({{{"user", "ann"}}, 2, HitsAre::kGivenBack}).remaining, 2U);
  EXPECT_EQ(Ask({{{"user", "ann"}}, 9, HitsAre::kGivenBack}).remaining, 3U);
}

TEST_F(DescriptorCheckTest, SeveralLimitsOfARuleAreToldByTheOneThatMattersMost) {
  Use("namespace: shop\nrules:\n"
      "- {name: two, descriptor: [{key: user}], limits: [fixed_window 2/s count_denied, "
      "fixed_window 3/h count_denied]}\n");
  EXPECT_EQ(Ask({{{"user", "ann"}}}).limit->unit, LimitUnit::kSecond);
  EXPECT_EQ(Ask({{{"user", "ann"}}}, kNoon + seconds(1)).limit->unit, LimitUnit::kSecond);
  EXPECT_EQ(Ask({{{"user", "ann"}}}, kNoon + seconds(2)).limit->unit, LimitUnit::kHour);
  EXPECT_TRUE(Ask({{{"user", "ann"}}}, kNoon + seconds(3)).over);
  EXPECT_EQ(reply_.statuses()[0].limit->unit, LimitUnit::kHour);
}

TEST_F(DescriptorCheckTest, WhoIsBannedStaysOutWhenTheWindowIsNew) {
  Use("namespace: shop\nrules:\n"
      "- {name: b, descriptor: [{key: user}], limit: fixed_window 1/s count_denied, "
      "exceed: ban 1m}\n");
  EXPECT_FALSE(Ask({{{"user", "ann"}}}).over);
  EXPECT_TRUE(Ask({{{"user", "ann"}}}).over);
  EXPECT_EQ(reply_.statuses()[0].until_reset, minutes(1));
  EXPECT_TRUE(Ask({{{"user", "ann"}}}, kNoon + seconds(59)).over);
  EXPECT_EQ(reply_.statuses()[0].until_reset, seconds(1));
  EXPECT_FALSE(Ask({{{"user", "bob"}}}, kNoon + seconds(59)).over);
  EXPECT_FALSE(Ask({{{"user", "ann"}}}, kNoon + seconds(60)).over);
}

TEST_F(DescriptorCheckTest, RulesWithoutADescriptorAreNotAsked) {
  Use("namespace: shop\nrules:\n- {name: all, limit: blocked}\n");
  EXPECT_TRUE(Check({{{{"user", "ann"}}}}).allowed());
}

TEST_F(DescriptorCheckTest, CalendarWindowsEndWithTheCalendar) {
  Use("namespace: shop\nrules:\n"
      "- {name: m, descriptor: [{key: user}], limit: fixed_window 9/month count_denied}\n");
  EXPECT_EQ(Ask({{{"user", "ann"}}}).remaining, 8U);
  EXPECT_EQ(reply_.statuses()[0].limit->unit, LimitUnit::kMonth);
  // Noon on June 1st: 29 days and a half to July.
  EXPECT_EQ(reply_.statuses()[0].until_reset, hours(29 * 24 + 12));
}

}  // namespace
}  // namespace weir
