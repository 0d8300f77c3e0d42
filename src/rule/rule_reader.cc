#include "rule/rule_reader.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/text.h"
#include "rule/attribute.h"
#include "rule/attribute_name.h"
#include "rule/closest.h"
#include "rule/descriptor_reader.h"
#include "rule/field_reader.h"
#include "rule/key_reader.h"
#include "rule/limit_reader.h"
#include "rule/match_reader.h"
#include "rule/rule_checks.h"
#include "rule/utf8.h"

namespace weir::rule {
namespace {

constexpr std::size_t kLongestMessage = 1024;
constexpr auto kLongestTime = std::chrono::hours(24 * 366);

constexpr std::array<std::string_view, 32> kRuleFields = {
    "name",     "match",       "by",
    "limit",    "limits",      "algorithm",
    "burst",    "zone",        "allow",
    "tiers",    "overrides",   "cost",
    "count",    "soft",        "elastic",
    "exceed",   "status",      "message",
    "mode",     "enforce",     "on_error",
    "expires",  "descriptor",  "limit_name",
    "replaces", "quota_mode",  "detailed_metric",
    "metadata", "whitelisted", "window",
    "cluster",  "over_burst"};

void ReadExceed(const YamlNode& node, ExceedPolicy& exceed, Report& report) {
  std::string text;
  if (!ReadText(node, "exceed", 64, text, report)) return;
  static constexpr std::array<std::string_view, 4> kWords = {"reject", "delay", "drop", "ban"};
  const auto words = SplitWords(text);
  const std::string_view word = words.empty() ? std::string_view() : words[0];
  const auto found = std::find(kWords.begin(), kWords.end(), word);
  if (found == kWords.end()) {
    report.Add(node.place, "unknown exceed '" + Shown(text) + "'", Suggest(word, kWords));
    return;
  }
  const auto what = static_cast<Exceed>(found - kWords.begin());
  const bool takes_time = what == Exceed::kDelay || what == Exceed::kBan;
  if (words.size() != (takes_time ? 2U : 1U)) {
    const std::string name(word);
    report.Add(node.place,
               takes_time ? "exceed: " + name + " needs one time, got '" + Shown(text) + "'"
                          : "exceed: " + name + " takes no time, got '" + Shown(text) + "'",
               takes_time ? "write exceed: " + name + " 10s" : "write exceed: " + name);
    return;
  }
  exceed.what = what;
  if (!takes_time) return;
  const Result<Nanos> time = ParseDuration(words[1]);
  if (!time || *time <= Nanos(0) || *time > kLongestTime) {
    report.Add(node.place,
               "the time of '" + std::string(word) + "' must be a duration longer than 0 and at " +
                   "most 366d, got '" + Shown(words[1]) + "'",
               "write exceed: " + std::string(word) + " 10s");
    return;
  }
  exceed.time = *time;
}

// A number, or {header: NAME, default: N}.
void ReadCost(const YamlNode& node, Cost& cost, Report& report) {
  if (node.kind != YamlNode::Kind::kMap) {
    ReadCount(node, "cost", 1, UINT64_MAX, cost.fixed.count, report);
    return;
  }
  static constexpr std::array<std::string_view, 5> kFields = {"header", "query", "cookie",
                                                              "attribute", "default"};
  const Fields fields(node, kFields, report);
  std::string name;
  int sources = 0;
  for (std::string_view source : {"header", "query", "cookie", "attribute"}) {
    if (!fields.Has(source)) continue;
    ++sources;
    if (!fields.Text(source, UINT16_MAX, name)) continue;
    if (source != "attribute") name.insert(0, std::string(source) + ".");
    if (CheckAttributeName(name, fields.Find(source)->place, report)) cost.attribute = name;
  }
  if (sources != 1) {
    report.Add(node.place,
               sources == 0 ? "cost does not say where it is found"
                            : "cost is found in one place, got " + std::to_string(sources),
               "write one of header, query, cookie and attribute: {header: x-cost, default: 1}");
  }
  fields.Count("default", 1, UINT64_MAX, cost.fixed.count);
}

void ReadOverrides(const YamlNode& node, const LimitDefaults& defaults,
                   std::vector<Override>& overrides, Report& report) {
  static constexpr std::array<std::string_view, 4> kFields = {"when", "limit", "limits", "until"};
  const std::string example = "{when: {user: acme}, limit: 100/s}";
  if (!IsList(node, "overrides", "overrides", kMostOverrides, "overrides: [" + example + "]",
              report)) {
    return;
  }
  for (const YamlNode& element : node.list) {
    if (!IsMap(element, "an override", example, report)) continue;
    const Fields fields(element, kFields, report);
    Override read;
    if (const YamlNode* when = fields.Find("when")) {
      read.when = ReadMatch(*when, "when", report);
    } else {
      report.Add(element.place, "an override needs 'when'", "write " + example);
    }
    if (const auto allowance = ReadAllowance(fields, defaults, report)) {
      read.allowance = *allowance;
    }
    if (const YamlNode* until = fields.Find("until")) {
      std::chrono::sys_seconds end;
      if (ReadInstant(*until, "until", end, report)) read.until = end;
    }
    overrides.push_back(std::move(read));
  }
}

// A width that a tier leaves out is as in `by`.
void ReadTiers(const YamlNode& node, const LimitDefaults& defaults, Rule& rule, Report& report) {
  static constexpr std::array<std::string_view, 4> kFields = {"v4", "v6", "limit", "limits"};
  const std::string example = "{v6: 56, limit: 40/min}";
  if (!IsList(node, "tiers", "tiers", kMostTiers, "tiers: [" + example + "]", report)) return;
  const AddressBits base = BaseBits(rule);
  for (const YamlNode& element : node.list) {
    if (!IsMap(element, "a tier", example, report)) continue;
    const Fields fields(element, kFields, report);
    Tier tier{base, Unlimited{}};
    if (ReadBits(element, tier.bits, report)) CheckTier(rule, tier, element.place, report);
    if (const auto allowance = ReadAllowance(fields, defaults, report)) {
      tier.allowance = *allowance;
    }
    rule.tiers.push_back(std::move(tier));
  }
}

void ReadAllowances(const Fields& fields, Rule& rule, Report& report) {
  const LimitDefaults defaults = ReadLimitDefaults(fields, report);
  if (!rule.allow) {
    if (const auto allowance = ReadAllowance(fields, defaults, report)) rule.allowance = *allowance;
  }
  if (const YamlNode* tiers = fields.Find("tiers")) ReadTiers(*tiers, defaults, rule, report);
  if (const YamlNode* overrides = fields.Find("overrides")) {
    ReadOverrides(*overrides, defaults, rule.overrides, report);
  }
}

void ReadWhatFollows(const Fields& fields, Rule& rule, Report& report) {
  static constexpr std::array<std::string_view, 2> kCounts = {"everything", "failures"};
  static constexpr std::array<std::string_view, 3> kModes = {"enforce", "shadow", "off"};
  static constexpr std::array<std::string_view, 3> kSharing = {"strict", "lease", "write_back"};
  static constexpr std::array<std::string_view, 3> kOnError = {"allow", "deny", "local"};
  if (const YamlNode* cost = fields.Find("cost")) ReadCost(*cost, rule.cost, report);
  fields.Word("count", kCounts, rule.counts);
  fields.Flag("elastic", rule.elastic);
  if (const YamlNode* exceed = fields.Find("exceed")) ReadExceed(*exceed, rule.exceed, report);
  std::uint64_t status = rule.status;
  if (fields.Count("status", 400, 599, status)) rule.status = static_cast<std::uint16_t>(status);
  fields.Text("message", kLongestMessage, rule.message);
  fields.Word("mode", kModes, rule.mode);
  std::uint32_t percent = rule.enforce_percent;
  fields.Percent("enforce", 100, percent);
  rule.enforce_percent = static_cast<std::uint8_t>(percent);
  std::size_t sharing = 0;
  if (fields.Word("cluster", kSharing, sharing)) rule.sharing = static_cast<Sharing>(sharing + 1);
  std::uint32_t over_burst = rule.over_burst_percent;
  fields.Percent("over_burst", 100, over_burst);
  rule.over_burst_percent = static_cast<std::uint8_t>(over_burst);
  fields.Word("on_error", kOnError, rule.on_error);
  std::chrono::sys_seconds expires;
  const YamlNode* instant = fields.Find("expires");
  if (instant != nullptr && ReadInstant(*instant, "expires", expires, report)) {
    rule.expires = expires;
  }
}

}  // namespace

Rule ReadRule(const YamlNode& node, Report& report) {
  Rule rule;
  report.SetRule("");
  if (!IsMap(node, "a rule", "its fields: {name: login, limit: 5/min}", report)) return rule;
  // First, so that everything that is wrong names the rule.
  const YamlNode* name = node.Find("name");
  if (name != nullptr) {
    const bool good = ReadName(*name, "name", kNamePunctuation, kLongestName, rule.name, report);
    if (good) report.SetRule(rule.name);
  } else {
    report.Add(node.place, "a rule needs a name", "write name: login-per-ip");
  }
  const Fields fields(node, kRuleFields, report);
  if (const YamlNode* match = fields.Find("match")) rule.match = ReadMatch(*match, "match", report);
  if (const YamlNode* by = fields.Find("by")) rule.keys = ReadKeys(*by, report);
  fields.Flag("allow", rule.allow);
  ReadDescriptor(fields, rule.descriptor, report);
  ReadAllowances(fields, rule, report);
  ReadWhatFollows(fields, rule, report);
  CheckFieldsTogether(fields, rule, report);
  return rule;
}

}  // namespace weir::rule
