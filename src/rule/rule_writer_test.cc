// What is written reads back as the same, whatever the rule.
#include "rule/rule_writer.h"

#include <gtest/gtest.h>

#include <chrono>

#include "rule/rule_file.h"
#include "tests/random_limits.h"

namespace weir::rule {
namespace {

using random::Random;

std::string Text(const Problems& problems) {
  std::string text;
  for (const Problem& problem : problems) text += problem.ToString() + "\n";
  return text;
}

// Text of the kinds that a writer stumbles over.
std::string AnyText(Random& random) {
  std::string text;
  for (std::uint64_t n = random.Below(4) + 1; n > 0; --n) {
    text += random.OneOf<std::string>(
        {"a",    "null", "true",   " ",      "'",      "\"",     "\\",        "#",  ": ", ", ",
         "[",    "}",    "-",      "- ",     "?",      "*",      "&",         "!",  "%",  "@",
         "`",    "|",    ">",      "0",      "1.5",    "/",      "~",         "\n", "\t", "\r",
         "\x01", "\x7F", "\u00e9", "\u0085", "\u2028", "\ufeff", "\U0001F600"});
  }
  return text;
}

std::string AnyAttribute(Random& random, std::uint64_t distinct) {
  return random.OneOf<std::string>({"path2", "ip", "user", "header.x-", "query.Q", "cookie.c_",
                                    "null", "true", "-x", "5", "."}) +
         (distinct == 0 ? "" : std::to_string(distinct));
}

Pattern AnyPattern(Random& random) {
  const auto kind = static_cast<PatternKind>(random.Below(5));
  if (kind == PatternKind::kCidr) {
    return {kind, random.OneOf<std::string>({"10.0.0.0/8", "10.1.2.3", "::1", "2001:db8::/32"})};
  }
  if (kind == PatternKind::kRegex) {
    return {kind, random.OneOf<std::string>({"a+", "[a-z]{2,3}", "\\d+\\.", "(a|b)*", ""})};
  }
  return {kind, AnyText(random)};
}

Match AnyMatch(Random& random) {
  Match match;
  for (std::uint64_t n = random.Below(3) + 1; n > 0; --n) {
    Condition condition{AnyAttribute(random, n), {}, random.OneIn(3)};
    if (random.OneIn(4)) {
      condition.any_of = {{PatternKind::kPresent, ""}};
    } else {
      for (std::uint64_t m = random.Below(3) + 1; m > 0; --m) {
        condition.any_of.push_back(AnyPattern(random));
      }
    }
    match.push_back(condition);
  }
  return match;
}

Allowance AnyAllowance(Random& random) {
  if (random.OneIn(6)) return Unlimited{};
  if (random.OneIn(6)) return Blocked{};
  const auto any = [&random] {
    return random::AnyLimit(random, static_cast<random::Kind>(random.Below(7)));
  };
  Limit limit = any();
  for (std::uint64_t n = random.Below(3); n > 0; --n) limit = limit + any();
  const Limit soft = limit.Soft(static_cast<std::uint32_t>(random.Below(1001)));
  return soft.WhatIsWrong() ? limit.Soft(0) : soft;
}

Descriptor AnyDescriptor(Random& random) {
  Descriptor descriptor;
  for (std::uint64_t n = random.Below(3) + 1; n > 0; --n) {
    DescriptorEntry entry{AnyText(random), random.OneIn(3) ? "" : AnyText(random)};
    entry.share_threshold = entry.value.find('*') != std::string::npos && random.OneIn(2);
    entry.value_to_metric = random.OneIn(2);
    descriptor.entries.push_back(entry);
  }
  if (random.OneIn(2)) descriptor.limit_name = AnyText(random);
  if (random.OneIn(2)) descriptor.replaces = {"not " + AnyText(random), AnyText(random) + "x"};
  if (descriptor.replaces.size() == 2 && descriptor.replaces[1] == descriptor.limit_name) {
    descriptor.replaces.pop_back();
  }
  descriptor.quota_mode = random.OneIn(2);
  descriptor.detailed_metric = random.OneIn(2);
  descriptor.metadata = random.OneOf<std::string>(
      {"", "{}", R"({"a":1,"b":[true,null,-1.5e3,"x\ny\"\\"],"null":{"5":"5"}})",
       R"({"a":"null"})"});
  return descriptor;
}

Key AnyKey(Random& random, std::uint64_t distinct) {
  Key key;
  for (std::uint64_t n = random.Below(3) + 1; n > 0; --n) {
    key.push_back({AnyAttribute(random, 10 * distinct + n), {}});
  }
  if (random.OneIn(3)) key.push_back({"ip", {20, 56}});
  return key;
}

Rule AnyRule(Random& random, std::string name) {
  Rule rule;
  rule.name = std::move(name);
  if (random.OneIn(4)) {
    rule.descriptor = AnyDescriptor(random);
  } else {
    if (random.OneIn(2)) rule.match = AnyMatch(random);
    for (Condition& condition : rule.match) condition.attribute += "m";  // none that `by` wants
    if (random.OneIn(2)) rule.keys = {AnyKey(random, 0)};
    if (random.OneIn(4)) rule.keys = {AnyKey(random, 1), {}, AnyKey(random, 2)};
  }
  if (random.OneIn(8) && !rule.descriptor) {
    rule.allow = true;
    rule.keys = {Key{}};
    return rule;
  }
  rule.allowance = AnyAllowance(random);
  if (rule.descriptor && std::holds_alternative<Unlimited>(rule.allowance)) {
    rule.descriptor->whitelisted = random.OneIn(2);
  }
  if (rule.descriptor && std::holds_alternative<Blocked>(rule.allowance)) {
    rule.descriptor->window = Nanos(random.AnySize(0, 1ULL << 50));
  }
  const bool by_ip = rule.keys.back().size() > 1 && rule.keys.back().back().attribute == "ip";
  if (by_ip && (rule.keys.size() == 1)) {
    rule.tiers = {{{20, 48}, AnyAllowance(random)}, {{16, 32}, AnyAllowance(random)}};
  }
  while (!rule.descriptor && random.OneIn(3)) {
    rule.overrides.push_back({AnyMatch(random), AnyAllowance(random)});
  }
  if (random.OneIn(3)) rule.cost = {Permits{random.Below(9) + 1}, AnyAttribute(random, 3)};
  if (random.OneIn(4)) rule.counts = Counts::kFailures;
  rule.elastic = random.OneIn(4);
  rule.exceed.what = static_cast<Exceed>(random.Below(4));
  if (rule.exceed.what == Exceed::kDelay || rule.exceed.what == Exceed::kBan) {
    rule.exceed.time = Nanos(random.AnySize(1, 1ULL << 50));
  }
  if (rule.exceed.what != Exceed::kDrop) {
    if (random.OneIn(2)) rule.status = static_cast<std::uint16_t>(400 + random.Below(200));
    if (random.OneIn(2)) rule.message = AnyText(random);
  }
  rule.mode = static_cast<Mode>(random.Below(3));
  if (rule.mode == Mode::kEnforce) {
    rule.enforce_percent = static_cast<std::uint8_t>(random.Below(101));
  }
  rule.on_error = static_cast<OnError>(random.Below(3));
  const bool is_shareable = !rule.elastic && rule.counts == Counts::kEverything &&
                            rule.exceed.what != Exceed::kDelay && !rule.descriptor;
  if (is_shareable && random.OneIn(2)) rule.sharing = Sharing::kStrict;
  if (random.OneIn(2)) {
    rule.expires = std::chrono::sys_seconds(std::chrono::seconds(random.Below(253'402'300'800)));
    if (random.OneIn(2)) rule.expires = std::chrono::floor<std::chrono::days>(*rule.expires);
  }
  return rule;
}

TEST(RuleWriterTest, AnyRuleReadsBackAsItself) {
  Random random(20'260'101);
  for (int i = 0; i < 3000; ++i) {
    const Rule rule = AnyRule(random, "r");
    const std::string text = WriteRule(rule);
    Problems problems;
    const auto again = ReadRule(text, "written", problems);
    ASSERT_TRUE(again) << text << Text(problems);
    ASSERT_EQ(*again, rule) << text << "\nread back as\n" << WriteRule(*again);
    ASSERT_EQ(WriteRule(*again), text);
  }
}

TEST(RuleWriterTest, AnyFileReadsBackAsItself) {
  Random random(7);
  for (int i = 0; i < 100; ++i) {
    RuleSet set{"space-" + std::to_string(i), {}};
    for (std::uint64_t n = random.Below(4); n > 0; --n) {
      set.rules.push_back(AnyRule(random, "r" + std::to_string(n)));
    }
    const std::string text = WriteRules(set);
    Problems problems;
    const auto again = ReadRules(text, "written", problems);
    ASSERT_TRUE(again) << text << Text(problems);
    ASSERT_EQ(*again, set) << text;
  }
}

TEST(RuleWriterTest, WritesAsAPersonWould) {
  const std::string text =
      "namespace: shop\n"
      "rules:\n"
      "  - name: login-per-ip\n"
      "    match: {path: /login, method: POST}\n"
      "    by: [ip]\n"
      "    limit: sliding_window 5/min\n"
      "    exceed: ban 10m\n"
      "  - name: api-per-user\n"
      "    match: {path: \"/api/**\", plan: [pro, team], ip: {not: [10.0.0.0/8, \"::1\"]}}\n"
      "    by: [[user], [{ip: {v4: 24}}]]\n"
      "    limits: [10/s burst 20, 5000/h, fixed_window 100000/month]\n"
      "    tiers: [{v4: 16, limit: 500/s soft 0%}]\n"
      "    overrides:\n"
      "      - {when: {user: acme}, limit: unlimited}\n"
      "      - {when: {header.x-plan: {prefix: [a, b]}}, limit: 100/s}\n"
      "    cost: {header: x-cost}\n"
      "    soft: 10%\n"
      "    mode: shadow\n"
      "    expires: 2027-01-31\n";
  Problems problems;
  const auto set = ReadRules(text, "text", problems);
  ASSERT_TRUE(set) << Text(problems);
  EXPECT_EQ(WriteRules(*set), text);
}

}  // namespace
}  // namespace weir::rule
