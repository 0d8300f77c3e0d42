// Which names attributes may have.
#pragma once

#include <cstddef>
#include <string_view>

#include "rule/report.h"

namespace weir::rule {

inline constexpr std::size_t kLongestAttributeName = 64;

// True for `header`, `query` and `cookie`, which need a name behind a dot.
bool IsFamily(std::string_view name);

// Whether `name` may be that of an attribute; reported if not.
bool CheckAttributeName(std::string_view name, Place place, Report& report);

}  // namespace weir::rule
