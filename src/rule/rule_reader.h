// Reads one rule from its YAML. docs/rules.md has its fields.
#pragma once

#include "rule/report.h"
#include "rule/rule.h"
#include "rule/yaml.h"

namespace weir::rule {

inline constexpr std::size_t kMostOverrides = 10'000;
inline constexpr std::size_t kMostTiers = 8;
inline constexpr std::size_t kLongestName = 128;
inline constexpr std::string_view kNamePunctuation = "-_./";
// Of a namespace: in NAMESPACE/NAME it ends at the first slash.
inline constexpr std::string_view kSpacePunctuation = "-_.";

// The rule is good if nothing was reported.
Rule ReadRule(const YamlNode& node, Report& report);

}  // namespace weir::rule
