// Reads `descriptor` and the fields that only rules with one have. docs/envoy.md
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "rule/field_reader.h"
#include "rule/rule.h"

namespace weir::rule {

// Fields of a rule that speak of its descriptor.
inline constexpr std::array<std::string_view, 7> kDescriptorFields = {
    "limit_name", "replaces", "quota_mode", "detailed_metric", "metadata", "whitelisted", "window"};

void ReadDescriptor(const Fields& rule, std::optional<Descriptor>& descriptor, Report& report);

}  // namespace weir::rule
