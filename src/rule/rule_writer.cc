#include "rule/rule_writer.h"

#include <array>
#include <cstdio>
#include <span>
#include <string_view>

#include "base/text.h"
#include "rule/match_writer.h"
#include "rule/rule_checks.h"
#include "rule/yaml_writer.h"

namespace weir::rule {
namespace {

template <typename Enum>
std::string WordOf(Enum value, std::span<const std::string_view> words) {
  return std::string(words[static_cast<std::size_t>(value)]);
}

void RemovePrefix(std::string& text, std::string_view prefix) {
  if (text.starts_with(prefix)) text.erase(0, prefix.size());
}

void Replace(std::string& text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  if (at != std::string::npos) text.replace(at, from.size(), to);
}

// As people write it: "10/s burst 20", not "token_bucket 10/1s burst 20".
std::string WritePart(const Algorithm& part) {
  std::string text = Limit(part).ToString();
  RemovePrefix(text, "token_bucket ");
  const std::size_t period = text.find('/') + 1;
  std::string rest = text.substr(period) + " ";
  text.erase(period);
  for (std::string_view unit : {"ns", "us", "ms", "s", "m", "h", "d"}) {
    const std::string one = "1" + std::string(unit) + " ";
    if (!rest.starts_with(one)) continue;
    rest = (unit == "m" ? "min" : std::string(unit)) + rest.substr(one.size() - 1);
    break;
  }
  for (std::string_view usual : {" zone UTC ", " windows 60 ", " max_burst 1s "}) {
    Replace(rest, usual, " ");
  }
  rest.pop_back();
  return text + rest;
}

// `limit` or `limits`, and its value. `soft` is what the rule says for all of its limits.
struct NamedAllowance {
  std::string_view name;
  std::string value;
};
NamedAllowance WriteAllowance(const Allowance& allowance, std::uint32_t soft) {
  if (std::holds_alternative<Unlimited>(allowance)) return {"limit", "unlimited"};
  if (std::holds_alternative<Blocked>(allowance)) return {"limit", "blocked"};
  const Limit& limit = std::get<Limit>(allowance);
  std::vector<std::string> parts;
  for (const Algorithm& part : limit.parts()) {
    std::string text = WritePart(part);
    if (limit.soft_percent() != soft) text += " soft " + std::to_string(limit.soft_percent()) + "%";
    parts.push_back(std::move(text));
  }
  if (parts.size() == 1) return {"limit", parts[0]};
  return {"limits", FlowList(parts)};
}

// What the rule says for all of its limits: what is right for the first.
std::uint32_t SoftOf(const Rule& rule) {
  const auto* limit = std::get_if<Limit>(&rule.allowance);
  return limit != nullptr ? limit->soft_percent() : 0;
}

std::string WriteTiers(const Rule& rule, std::uint32_t soft) {
  const AddressBits base = BaseBits(rule);
  std::vector<std::string> tiers;
  for (const Tier& tier : rule.tiers) {
    FlowMap map;
    if (tier.bits.v4 != base.v4) map.Add("v4", std::to_string(tier.bits.v4));
    if (tier.bits.v6 != base.v6) map.Add("v6", std::to_string(tier.bits.v6));
    const NamedAllowance allowance = WriteAllowance(tier.allowance, soft);
    tiers.push_back(map.Add(allowance.name, allowance.value).text());
  }
  return FlowList(tiers);
}

std::string WriteCost(const Cost& cost) {
  std::string fixed = std::to_string(cost.fixed.count);
  if (cost.attribute.empty()) return fixed;
  const std::string_view attribute = cost.attribute;
  FlowMap map;
  const std::size_t dot = attribute.find('.');
  const std::string_view family = attribute.substr(0, dot);
  if (dot != std::string_view::npos &&
      (family == "header" || family == "query" || family == "cookie")) {
    map.Add(family, YamlScalar(attribute.substr(dot + 1)));
  } else {
    map.Add("attribute", YamlScalar(attribute));
  }
  if (cost.fixed.count != 1) map.Add("default", fixed);
  return map.text();
}

std::string WriteExceed(const ExceedPolicy& exceed) {
  static constexpr std::array<std::string_view, 4> kWords = {"reject", "delay", "drop", "ban"};
  std::string text = WordOf(exceed.what, kWords);
  if (exceed.time > Nanos(0)) text += " " + FormatDuration(exceed.time);
  return text;
}

// A day alone where it begins then.
std::string WriteInstant(std::chrono::sys_seconds instant) {
  const auto day = std::chrono::floor<std::chrono::days>(instant);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(instant - day);
  std::array<char, 64> text;
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
                static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()));
  const std::string whole(text.data());
  return instant == day ? whole.substr(0, whole.find('T')) : whole;
}

// The fields of a rule, one per line, each line behind `indent`.
class RuleWriter {
 public:
  explicit RuleWriter(std::string_view indent) : indent_(indent) {}

  std::string Write(const Rule& rule) {
    Add("name", YamlScalar(rule.name));
    if (rule.descriptor) Describe(*rule.descriptor);
    if (!rule.match.empty()) Add("match", WriteMatch(rule.match));
    if (rule.keys != Rule{}.keys) Add("by", WriteKeys(rule.keys));
    if (rule.allow) {
      Add("allow", "true");
    } else {
      Limits(rule);
    }
    WhatFollows(rule);
    return std::move(text_);
  }

 private:
  void Add(std::string_view name, std::string_view value) {
    text_ += indent_;
    text_ += name;
    text_ += ": ";
    text_ += value;
    text_ += '\n';
  }

  void Describe(const Descriptor& descriptor) {
    std::vector<std::string> entries;
    for (const DescriptorEntry& entry : descriptor.entries) {
      FlowMap map;
      map.Add("key", YamlScalar(entry.key));
      if (!entry.value.empty()) map.Add("value", YamlScalar(entry.value));
      if (entry.share_threshold) map.Add("share_threshold", "true");
      if (entry.value_to_metric) map.Add("value_to_metric", "true");
      entries.push_back(map.text());
    }
    Add("descriptor", FlowList(entries));
    if (!descriptor.limit_name.empty()) Add("limit_name", YamlScalar(descriptor.limit_name));
    std::vector<std::string> replaces;
    for (const std::string& name : descriptor.replaces) replaces.push_back(YamlScalar(name));
    if (!replaces.empty()) Add("replaces", FlowList(replaces));
    if (descriptor.quota_mode) Add("quota_mode", "true");
    if (descriptor.detailed_metric) Add("detailed_metric", "true");
    if (!descriptor.metadata.empty()) Add("metadata", descriptor.metadata);  // JSON is YAML
    if (descriptor.whitelisted) Add("whitelisted", "true");
    if (descriptor.window > Nanos(0)) Add("window", FormatDuration(descriptor.window));
  }

  void Limits(const Rule& rule) {
    const std::uint32_t soft = SoftOf(rule);
    const NamedAllowance allowance = WriteAllowance(rule.allowance, soft);
    Add(allowance.name, allowance.value);
    if (!rule.tiers.empty()) Add("tiers", WriteTiers(rule, soft));
    if (!rule.overrides.empty()) {
      text_ += std::string(indent_) + "overrides:\n";
      for (const Override& exception : rule.overrides) {
        const NamedAllowance other = WriteAllowance(exception.allowance, soft);
        FlowMap map;
        map.Add("when", WriteMatch(exception.when)).Add(other.name, other.value);
        if (exception.until) map.Add("until", WriteInstant(*exception.until));
        text_ += std::string(indent_) + "  - " + map.text() + "\n";
      }
    }
  }

  void WhatFollows(const Rule& rule) {
    static constexpr std::array<std::string_view, 3> kModes = {"enforce", "shadow", "off"};
    static constexpr std::array<std::string_view, 4> kSharing = {"none", "strict", "lease",
                                                                 "write_back"};
    static constexpr std::array<std::string_view, 3> kOnError = {"allow", "deny", "local"};
    const Rule defaults;
    if (rule.cost != defaults.cost) Add("cost", WriteCost(rule.cost));
    if (rule.counts == Counts::kFailures) Add("count", "failures");
    if (SoftOf(rule) > 0) Add("soft", std::to_string(SoftOf(rule)) + "%");
    if (rule.elastic) Add("elastic", "true");
    if (rule.exceed != defaults.exceed) Add("exceed", WriteExceed(rule.exceed));
    if (rule.status != defaults.status) Add("status", std::to_string(rule.status));
    if (!rule.message.empty()) Add("message", YamlScalar(rule.message));
    if (rule.mode != defaults.mode) Add("mode", WordOf(rule.mode, kModes));
    if (rule.enforce_percent != 100) Add("enforce", std::to_string(rule.enforce_percent) + "%");
    if (rule.sharing != defaults.sharing) Add("cluster", WordOf(rule.sharing, kSharing));
    if (rule.over_burst_percent != defaults.over_burst_percent) {
      Add("over_burst", std::to_string(rule.over_burst_percent) + "%");
    }
    if (rule.on_error != defaults.on_error) Add("on_error", WordOf(rule.on_error, kOnError));
    if (rule.expires) Add("expires", WriteInstant(*rule.expires));
  }

  std::string_view indent_;
  std::string text_;
};

}  // namespace

std::string WriteRule(const Rule& rule) { return RuleWriter("").Write(rule); }

std::string WriteRules(const RuleSet& set) {
  std::string text = "namespace: " + YamlScalar(set.space) + "\n";
  if (set.rules.empty()) return text + "rules: []\n";
  text += "rules:\n";
  for (const Rule& rule : set.rules) {
    std::string fields = RuleWriter("    ").Write(rule);
    fields.replace(0, 4, "  - ");
    text += fields;
  }
  return text;
}

}  // namespace weir::rule
