#include "rule/envoy_file.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "base/check.h"
#include "rule/descriptor_tree.h"
#include "rule/envoy_fields.h"
#include "rule/envoy_keys.h"
#include "rule/envoy_name.h"
#include "rule/envoy_scalar.h"
#include "rule/report.h"
#include "rule/utf8.h"

namespace weir::rule {
namespace {

using Kind = YamlNode::Kind;

struct Unit {
  std::string_view name;
  Nanos length;
};

// Not those of the calendar: a month is 30 days, and weeks begin on Thursday, as the epoch did.
constexpr std::array<Unit, 7> kUnits = {{
    {"second", std::chrono::seconds(1)},
    {"minute", std::chrono::minutes(1)},
    {"hour", std::chrono::hours(1)},
    {"day", std::chrono::hours(24)},
    {"week", std::chrono::hours(24 * 7)},
    {"month", std::chrono::hours(24 * 30)},
    {"year", std::chrono::hours(24 * 365)},
}};

// A window of one second shares its word with a counter of 29 bits. Only for this unit is that less
// than what the file may say.
constexpr std::uint32_t kMostPerSecond = (std::uint32_t{1} << 29) - 1;

const Unit* FindUnit(std::string_view text) {
  const auto same = [](char a, char b) {
    return a == b || (a >= 'A' && a <= 'Z' && (a | 0x20) == b);
  };
  const auto unit = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& u) {
    return std::equal(text.begin(), text.end(), u.name.begin(), u.name.end(), same);
  });
  return unit != kUnits.end() ? &*unit : nullptr;
}

// What `rate_limit` says.
struct RateLimit {
  Allowance allowance;
  Nanos window{0};  // of a blocked one
  std::string name;
  std::vector<std::string> replaces;
};

// Reads a tree that is known to be one of this kind, and reports what is wrong with it.
class Reader {
 public:
  Reader(Report& problems, Report& doubts) : problems_(problems), doubts_(doubts) {}

  RuleSet File(const YamlNode& root) {
    DoubtEnvoyKeys(root, EnvoyLevel::kFile, doubts_);
    const EnvoyFields fields(root, problems_);
    set_.space = fields.Text("domain");
    if (set_.space.empty() && !fields.IsNoText("domain")) {
      problems_.Add(fields.PlaceOf("domain"), "config file cannot have empty domain",
                    "write 'domain: NAME'");
    }
    Descriptors(root, set_.space + ".", {});
    return std::move(set_);
  }

 private:
  using Entries = std::vector<DescriptorEntry>;

  // `path` is what their messages call the level, "domain.key_value."; `above` leads to it.
  void Descriptors(const YamlNode& parent, const std::string& path, const Entries& above) {
    std::unordered_set<std::string> seen;
    for (const YamlNode* node : EnvoyFields(parent, problems_).Maps("descriptors")) {
      const EnvoyFields fields(*node, problems_);
      DescriptorEntry entry{.key = fields.Text("key"), .value = fields.Text("value")};
      const std::string composite = Composite(entry);
      const std::string here = path + composite;
      problems_.SetRule(Shown(here));
      doubts_.SetRule(Shown(here));
      DoubtEnvoyKeys(*node, EnvoyLevel::kDescriptor, doubts_);
      entry.share_threshold = fields.Flag("share_threshold");
      entry.value_to_metric = fields.Flag("value_to_metric");
      CheckEntry(fields, entry, here);
      if (!entry.key.empty() && !seen.insert(composite).second) {
        problems_.Add(fields.PlaceOf("key"),
                      "duplicate descriptor composite key '" + Shown(here) + "'",
                      "keep one of them, or join what is below them");
      }
      Entries entries = above;
      entries.push_back(std::move(entry));
      AddRule(*node, here, entries);
      Descriptors(*node, here + ".", entries);
      problems_.SetRule({});
      doubts_.SetRule({});
      if (bytes_ > kMostBytes) return;
    }
  }

  void CheckEntry(const EnvoyFields& fields, const DescriptorEntry& entry,
                  const std::string& path) {
    if (entry.key.empty() && !fields.IsNoText("key")) {
      problems_.Add(fields.PlaceOf("key"), "descriptor has empty key", "write 'key: NAME'");
    }
    const std::string composite = Composite(entry);
    if (entry.share_threshold && composite.find('*') == std::string::npos) {
      problems_.Add(fields.PlaceOf("share_threshold"),
                    "share_threshold can only be used with wildcard values (containing '*'), but "
                    "found key '" +
                        Shown(composite) + "'",
                    "remove it, or put a '*' into the value");
    }
    // Every rule below repeats what is above it: a few long keys must not become a lot of memory.
    bytes_ += path.size();
    if (bytes_ > kMostBytes && bytes_ - path.size() <= kMostBytes) {
      problems_.Add(fields.PlaceOf("key"), "the descriptors are too large, written out one by one",
                    "split the file, or use shorter keys");
    }
  }

  // The rule at a node of the tree: its limit, or none where nothing is below.
  void AddRule(const YamlNode& node, const std::string& path, const Entries& entries) {
    const EnvoyFields fields(node, problems_);
    Rule rule;
    Descriptor descriptor;
    descriptor.entries = entries;
    const bool shadow = fields.Flag("shadow_mode");
    const bool quota = fields.Flag("quota_mode");
    const bool detailed = fields.Flag("detailed_metric");
    std::string metadata = Metadata(fields);
    if (std::optional<RateLimit> limit = ReadLimit(fields)) {
      rule.mode = shadow ? Mode::kShadow : Mode::kEnforce;
      rule.allowance = std::move(limit->allowance);
      descriptor.window = limit->window;
      descriptor.limit_name = std::move(limit->name);
      descriptor.replaces = std::move(limit->replaces);
      descriptor.quota_mode = quota;
      descriptor.detailed_metric = detailed;
      descriptor.metadata = std::move(metadata);
    } else {
      const YamlNode* below = node.Find("descriptors");
      if (below != nullptr && !below->list.empty()) return;
      descriptor.whitelisted = true;
    }
    rule.name = names_.NameFor(std::string_view(path).substr(set_.space.size() + 1));
    rule.descriptor = std::move(descriptor);
    set_.rules.push_back(std::move(rule));
  }

  std::string Metadata(const EnvoyFields& fields) {
    const YamlNode* metadata = fields.Map("metadata", "write 'metadata: {NAME: VALUE}'");
    if (metadata == nullptr || metadata->map.empty()) return {};
    auto json = MetadataJson(*metadata);
    if (const YamlNode* const* bad = std::get_if<const YamlNode*>(&json)) {
      problems_.Add((*bad)->place,
                    "error parsing metadata: " + (*bad)->Describe() + " cannot be told as JSON",
                    "put it in quotes");
      return {};
    }
    return std::get<std::string>(std::move(json));
  }

  std::optional<RateLimit> ReadLimit(const EnvoyFields& descriptor) {
    const YamlNode* node =
        descriptor.Map("rate_limit", "write 'rate_limit: {unit: minute, requests_per_unit: 10}'");
    if (node == nullptr) return std::nullopt;
    DoubtEnvoyKeys(*node, EnvoyLevel::kRateLimit, doubts_);
    const EnvoyFields fields(*node, problems_);
    RateLimit limit;
    limit.name = fields.Text("name");
    ReadAllowance(fields, limit);
    ReadReplaces(fields, limit);
    return limit;
  }

  void ReadAllowance(const EnvoyFields& fields, RateLimit& limit) {
    const std::string unit_text = fields.Text("unit");
    const Unit* unit = FindUnit(unit_text);
    std::uint32_t count = fields.Count("requests_per_unit");
    if (fields.Flag("unlimited")) {
      limit.allowance = Unlimited{};
      if (unit != nullptr) {
        problems_.Add(fields.PlaceOf("unit"), "should not specify rate limit unit when unlimited",
                      "remove 'unit', or 'unlimited'");
      }
      return;
    }
    if (unit == nullptr) {
      if (fields.IsNoText("unit")) return;
      problems_.Add(fields.PlaceOf("unit"), "invalid rate limit unit '" + Shown(unit_text) + "'",
                    "the units are second, minute, hour, day, week, month and year");
      return;
    }
    if (count == 0) {
      limit.allowance = Blocked{};
      limit.window = unit->length;
      return;
    }
    if (unit->length == std::chrono::seconds(1) && count > kMostPerSecond) {
      doubts_.Add(fields.PlaceOf("requests_per_unit"),
                  std::to_string(count) + " per second counts as " + std::to_string(kMostPerSecond),
                  "write 'unlimited: true' if that is meant");
      count = kMostPerSecond;
    }
    Limit window =
        FixedWindow{.permits = Permits{count}, .window = unit->length, .denied = Denied::kCounted};
    WEIR_CHECK(!window.WhatIsWrong());
    limit.allowance = std::move(window);
  }

  void ReadReplaces(const EnvoyFields& rate_limit, RateLimit& limit) {
    for (const YamlNode* element : rate_limit.Maps("replaces")) {
      DoubtEnvoyKeys(*element, EnvoyLevel::kReplaces, doubts_);
      const EnvoyFields fields(*element, problems_);
      std::string name = fields.Text("name");
      if (name.empty() && !fields.IsNoText("name")) {
        problems_.Add(fields.PlaceOf("name"), "should not have an empty replaces entry",
                      "write '- name: NAME'");
      } else if (!name.empty() && name == limit.name) {
        problems_.Add(fields.PlaceOf("name"), "replaces should not contain name of same descriptor",
                      "name another limit, or none");
      }
      limit.replaces.push_back(std::move(name));
    }
  }

  static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

  Report& problems_;
  Report& doubts_;
  RuleSet set_;
  NameMaker names_;
  std::size_t bytes_ = 0;  // of all paths
};

}  // namespace

bool LooksLikeEnvoy(const YamlNode& root) {
  if (root.kind != Kind::kMap) return false;
  const auto has = [&root](std::string_view key) { return root.Find(key) != nullptr; };
  return (has("domain") || has("descriptors")) && !has("namespace") && !has("rules");
}

std::optional<RuleSet> ReadEnvoyRules(std::string_view text, const std::string& file,
                                      Problems& problems, Problems* doubts) {
  YamlNode root;
  if (!ReadYaml(text, file, root, problems)) {
    problems.back().what = "error loading config file: " + problems.back().what;
    return std::nullopt;
  }
  Problems unheard;
  Report problem_report(file, problems);
  Report doubt_report(file, doubts != nullptr ? *doubts : unheard);
  if (root.kind == Kind::kNull) root.kind = Kind::kMap;  // an empty file
  if (root.kind != Kind::kMap) {
    problem_report.Add(root.place,
                       "error loading config file: expected a map, got " + root.Describe(),
                       "write 'domain: NAME' and 'descriptors: [...]'");
    return std::nullopt;
  }
  CheckEnvoyKeys(root, problem_report);
  RuleSet set = Reader(problem_report, doubt_report).File(root);
  problem_report.Sort();
  doubt_report.Sort();
  if (problem_report.count() > 0) return std::nullopt;
  return set;
}

}  // namespace weir::rule
