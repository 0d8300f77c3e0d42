// What a file of rules becomes, field by field. tests/wrong_rules has what is refused.
#include "rule/rule_file.h"

#include <gtest/gtest.h>

#include <chrono>

namespace weir::rule {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

std::string Text(const Problems& problems) {
  std::string text;
  for (const Problem& problem : problems) text += problem.ToString() + "\n";
  return text;
}

RuleSet Read(std::string_view text) {
  Problems problems;
  const auto rules = ReadRules(text, "test.yaml", problems);
  EXPECT_EQ(Text(problems), "");
  return rules.value_or(RuleSet{});
}

// One rule from its fields, each on a line of its own.
Rule ReadOne(const std::string& fields) {
  Problems problems;
  const auto rule = ReadRule("name: r\n" + fields, "test.yaml", problems);
  EXPECT_EQ(Text(problems), "");
  return rule.value_or(Rule{});
}

std::string WhatIsWrongWith(const std::string& fields) {
  Problems problems;
  EXPECT_FALSE(ReadRule("name: r\n" + fields, "f", problems));
  return Text(problems);
}

Limit LimitOf(const std::string& fields) {
  const Rule rule = ReadOne(fields);
  const auto* limit = std::get_if<Limit>(&rule.allowance);
  EXPECT_NE(limit, nullptr) << fields;
  return limit != nullptr ? *limit : Limit(Quota::PerSecond(1));
}

TEST(RuleFileTest, ReadsTheExampleOfTheDocumentation) {
  const RuleSet rules = Read(R"(
namespace: shop                      # Envoy calls it a domain
rules:
  - name: login-per-ip
    match: {path: /login, method: POST}
    by: [ip]
    limit: 5/min
    algorithm: sliding_window
    exceed: ban 10m
  - name: api-per-user
    match: {path: "/api/**", plan: [pro, team]}
    by: [user]
    limits: [10/s burst 20, 5000/h]          # all or nothing
    cost: {header: x-cost, default: 1}
    overrides: [{when: {user: acme}, limits: [100/s]}]
    soft: 10%
    mode: shadow
)");
  Rule login;
  login.name = "login-per-ip";
  login.match = {{"path", {{PatternKind::kExact, "/login"}}},
                 {"method", {{PatternKind::kExact, "POST"}}}};
  login.keys = {{{"ip", {}}}};
  login.allowance = Limit(SlidingWindow{Quota::PerMinute(5)});
  login.exceed = {Exceed::kBan, minutes(10)};
  Rule api;
  api.name = "api-per-user";
  api.match = {{"path", {{PatternKind::kGlob, "/api/**"}}},
               {"plan", {{PatternKind::kExact, "pro"}, {PatternKind::kExact, "team"}}}};
  api.keys = {{{"user", {}}}};
  api.allowance = (Limit(Quota::PerSecond(10).Burst(20)) + Quota::PerHour(5000)).Soft(10);
  api.cost = {Permits{1}, "header.x-cost"};
  api.overrides = {
      {{{"user", {{PatternKind::kExact, "acme"}}}}, Limit(Quota::PerSecond(100)).Soft(10)}};
  api.mode = Mode::kShadow;
  EXPECT_EQ(rules, (RuleSet{"shop", {login, api}}));
}

TEST(RuleFileTest, ARuleWithoutMoreThanALimitHasTheDefaults) {
  Rule rule;
  rule.name = "r";
  rule.allowance = Limit(Quota::PerSecond(10));
  EXPECT_EQ(ReadOne("limit: 10/s"), rule);
}

TEST(RuleFileTest, PeriodsHaveManyNames) {
  for (const char* period : {"s", "1s", "sec", "second", "1000ms"}) {
    EXPECT_EQ(LimitOf(std::string("limit: 5/") + period), Limit(Quota::PerSecond(5))) << period;
  }
  for (const char* period : {"m", "min", "minute", "60s"}) {
    EXPECT_EQ(LimitOf(std::string("limit: 5/") + period), Limit(Quota::PerMinute(5))) << period;
  }
  for (const char* period : {"h", "hour", "60m"}) {
    EXPECT_EQ(LimitOf(std::string("limit: 5/") + period), Limit(Quota::PerHour(5))) << period;
  }
  for (const char* period : {"d", "day", "24h"}) {
    EXPECT_EQ(LimitOf(std::string("limit: 5/") + period), Limit(Quota::PerDay(5))) << period;
  }
  EXPECT_EQ(LimitOf("limit: 5/week"), Limit(Quota::Per(5, hours(24 * 7))));
}

TEST(RuleFileTest, ADayIsOneOfTheCalendarForFixedWindowsOnly) {
  EXPECT_EQ(LimitOf("limit: fixed_window 5/day"),
            Limit(FixedWindow{Permits{5}, Calendar{CalendarUnit::kDay, "UTC"}}));
  EXPECT_EQ(LimitOf("limit: fixed_window 5/1d"), Limit(FixedWindow{Permits{5}, Nanos(hours(24))}));
  EXPECT_EQ(LimitOf("limit: sliding_window 5/day"), Limit(SlidingWindow{Quota::PerDay(5)}));
}

TEST(RuleFileTest, DefaultsOfARuleAreForLimitsThatNameNone) {
  EXPECT_EQ(LimitOf("burst: 7\nlimits: [1/s, 2/s burst 3, sliding_log 9/h]"),
            Limit(Quota::PerSecond(1).Burst(7)) + Quota::PerSecond(2).Burst(3) +
                SlidingLog{Quota::PerHour(9)});
  EXPECT_EQ(LimitOf("algorithm: sliding_window\nlimits: [1/s, token_bucket 2/s]"),
            Limit(SlidingWindow{Quota::PerSecond(1)}) + Quota::PerSecond(2));
  const auto month = [](const char* zone) {
    return Limit(FixedWindow{Permits{5}, Calendar{CalendarUnit::kMonth, zone}});
  };
  EXPECT_EQ(LimitOf("zone: Europe/Berlin\nalgorithm: fixed_window\n"
                    "limits: [5/month, 5/month zone Asia/Tokyo]"),
            month("Europe/Berlin") + month("Asia/Tokyo"));
  EXPECT_EQ(LimitOf("soft: 10%\nlimit: 1/s soft 20%").soft_percent(), 20U);
  EXPECT_EQ(LimitOf("soft: 10%\nlimit: 1/s soft 0%").soft_percent(), 0U);
}

TEST(RuleFileTest, AWidthThatATierLeavesOutIsThatOfTheKey) {
  const Rule rule = ReadOne(
      "by: [{ip: {v4: 30, v6: 60}}]\nlimit: 10/s\n"
      "tiers: [{v6: 56, limit: 40/s}, {v4: 24, limit: blocked}]");
  EXPECT_EQ(rule.tiers,
            (std::vector<Tier>{{{30, 56}, Limit(Quota::PerSecond(40))}, {{24, 60}, Blocked{}}}));
}

TEST(RuleFileTest, FileNamesAndPlacesAreInEveryMessage) {
  EXPECT_EQ(WhatIsWrongWith("limit: 0/s\nmdoe: off\n"),
            "f:2:8: rule 'r': token_bucket: the rate must be at least 1 permit per period, got 0\n"
            "f:3:1: rule 'r': unknown field 'mdoe'; did you mean 'mode'?\n");
}

TEST(RuleFileTest, MoreOverridesThanARuleMayHaveAreRefused) {
  const auto overrides = [](int n) {
    std::string text = "limit: 1/s\noverrides:\n";
    for (int i = 0; i < n; ++i) {
      text += "  - {when: {user: u" + std::to_string(i) + "}, limit: unlimited}\n";
    }
    return text;
  };
  EXPECT_EQ(ReadOne(overrides(10'000)).overrides.size(), 10'000U);
  EXPECT_EQ(WhatIsWrongWith(overrides(10'001)),
            "f:4:3: rule 'r': overrides holds more than 10000 overrides: 10001\n");
}

TEST(RuleFileTest, ANamespaceSpeaksOfSixtyFourAttributesAtMost) {
  const auto rules = [](int n) {
    std::string text = "namespace: n\nrules:\n";
    for (int i = 0; i < n; ++i) {
      text +=
          "  - {name: r" + std::to_string(i) + ", by: [a" + std::to_string(i) + "], limit: 1/s}\n";
    }
    return text;
  };
  EXPECT_EQ(Read(rules(63)).rules.size(), 63U);  // and ip
  Problems problems;
  EXPECT_FALSE(ReadRules(rules(70), "f", problems));
  EXPECT_EQ(Text(problems),
            "f:66:5: rule 'r63': attribute 'a63' is one more than the 64 that a namespace may "
            "speak of (with ip); use fewer, or split the namespace\n");
}

TEST(RuleFileTest, OfAThousandMistakesTheRestIsNotTold) {
  std::string text = "namespace: n\nrules:\n";
  for (int i = 0; i < 2000; ++i) text += "  - {limt: 1/s}\n";
  Problems problems;
  EXPECT_FALSE(ReadRules(text, "f", problems));
  EXPECT_EQ(problems.size(), 1001U);
  EXPECT_EQ(problems.back().what, "there are more problems than these 1000");
}

}  // namespace
}  // namespace weir::rule
