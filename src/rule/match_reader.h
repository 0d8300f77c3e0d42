// Reads who a rule is for, `match` and `when`: conditions on the attributes of a request.
#pragma once

#include <cstddef>
#include <string_view>

#include "rule/report.h"
#include "rule/rule.h"
#include "rule/yaml.h"

namespace weir::rule {

inline constexpr std::size_t kMostPatterns = 10'000;  // of one condition

// `name` is that of the field, "match" or "when".
Match ReadMatch(const YamlNode& node, std::string_view name, Report& report);

}  // namespace weir::rule
