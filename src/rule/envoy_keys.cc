#include "rule/envoy_keys.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "rule/closest.h"
#include "rule/envoy_scalar.h"
#include "rule/utf8.h"

namespace weir::rule {
namespace {

constexpr std::string_view kFileKeys[] = {"domain", "descriptors"};
constexpr std::string_view kDescriptorKeys[] = {
    "key",        "value",           "rate_limit",      "descriptors",     "shadow_mode",
    "quota_mode", "detailed_metric", "value_to_metric", "share_threshold", "metadata"};
constexpr std::string_view kRateLimitKeys[] = {"unit", "requests_per_unit", "unlimited", "name",
                                               "replaces"};
constexpr std::string_view kReplacesKeys[] = {"name"};
constexpr std::string_view kAllKeys[] = {"domain",
                                         "descriptors",
                                         "key",
                                         "value",
                                         "rate_limit",
                                         "unit",
                                         "requests_per_unit",
                                         "unlimited",
                                         "name",
                                         "replaces",
                                         "shadow_mode",
                                         "quota_mode",
                                         "detailed_metric",
                                         "value_to_metric",
                                         "share_threshold",
                                         "metadata"};

using Keys = std::span<const std::string_view>;

Keys KeysOf(EnvoyLevel level) {
  switch (level) {
    case EnvoyLevel::kFile:
      return kFileKeys;
    case EnvoyLevel::kDescriptor:
      return kDescriptorKeys;
    case EnvoyLevel::kRateLimit:
      return kRateLimitKeys;
    case EnvoyLevel::kReplaces:
      return kReplacesKeys;
  }
  return {};
}

const char* WhereOf(EnvoyLevel level) {
  static constexpr const char* kNames[] = {"at the top of the file", "in a descriptor",
                                           "in 'rate_limit'", "in 'replaces'"};
  return kNames[static_cast<std::size_t>(level)];
}

constexpr EnvoyLevel kLevels[] = {EnvoyLevel::kFile, EnvoyLevel::kDescriptor,
                                  EnvoyLevel::kRateLimit, EnvoyLevel::kReplaces};

bool Has(Keys keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

bool IsKnown(std::string_view key) { return Has(kAllKeys, key); }

// Whether a key, were it a value, would be something else than text.
bool IsText(const std::string& key) {
  YamlNode node;
  node.kind = YamlNode::Kind::kScalar;
  node.scalar = key;
  return std::holds_alternative<std::string_view>(Resolve(node));
}

void CheckMap(const YamlNode& map, Report& problems);

void CheckValue(const YamlNode& node, Report& problems) {
  if (node.kind == YamlNode::Kind::kMap) CheckMap(node, problems);
  for (const YamlNode& element : node.list) {
    if (element.kind == YamlNode::Kind::kMap) {
      CheckMap(element, problems);
    } else {
      problems.Add(
          element.place,
          "config error, yaml file contains list of type other than map: " + element.Describe(),
          "write each element as '- key: ...'");
    }
  }
  if (IsRefusedScalar(node)) {
    problems.Add(node.place,
                 "error checking config: " + node.Describe() + " is no whole number of 63 bits",
                 "write one, or put it in quotes if it is text");
  }
}

void CheckMap(const YamlNode& map, Report& problems) {
  for (const YamlNode::Entry& entry : map.map) {
    if (IsKnown(entry.key)) {
      if (entry.key != "metadata") CheckValue(entry.value, problems);
    } else if (IsText(entry.key)) {
      problems.Add(entry.place, "config error, unknown key '" + Shown(entry.key) + "'",
                   Suggest(entry.key, kAllKeys));
    } else {
      problems.Add(entry.place, "config error, key is not of type string: " + Shown(entry.key),
                   Suggest({}, kAllKeys));
    }
  }
}

}  // namespace

void CheckEnvoyKeys(const YamlNode& root, Report& problems) { CheckMap(root, problems); }

void DoubtEnvoyKeys(const YamlNode& map, EnvoyLevel level, Report& doubts) {
  for (const YamlNode::Entry& entry : map.map) {
    if (Has(KeysOf(level), entry.key) || !IsKnown(entry.key)) continue;
    const auto home = std::find_if(std::begin(kLevels), std::end(kLevels),
                                   [&](EnvoyLevel other) { return Has(KeysOf(other), entry.key); });
    doubts.Add(entry.place, "'" + entry.key + "' has no effect " + WhereOf(level),
               std::string("it belongs ") + WhereOf(*home));
  }
}

bool IsRefusedScalar(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::kScalar) return false;
  const EnvoyScalar scalar = Resolve(node);
  return std::holds_alternative<double>(scalar) || std::holds_alternative<std::uint64_t>(scalar);
}

}  // namespace weir::rule
