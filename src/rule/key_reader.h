// Reads by what a rule counts: `by`, and the widths of networks in it and in `tiers`.
#pragma once

#include <cstddef>
#include <vector>

#include "rule/report.h"
#include "rule/rule.h"
#include "rule/yaml.h"

namespace weir::rule {

inline constexpr std::size_t kMostKeys = 16;  // of a rule
inline constexpr std::size_t kMostKeyParts = 16;

// At least one key, whatever is wrong.
std::vector<Key> ReadKeys(const YamlNode& node, Report& report);

// `v4` and `v6` of a map, where they are given. False if there is neither, or one is wrong.
bool ReadBits(const YamlNode& map, AddressBits& bits, Report& report);

}  // namespace weir::rule
