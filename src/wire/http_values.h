// Values inside of a request: the parameters of its query, and cookies. Found where they lie;
// nothing is copied and no table is made of them, since rules ask for few.
#pragma once

#include <optional>
#include <string_view>

#include "rule/header_field.h"

namespace weir::wire {

// "b" of "a=b", still encoded: see PercentDecode with Plus::kBlank. Empty for "a" alone. Of
// several, the first. The name is compared decoded: "%61=b" has the parameter a.
std::optional<std::string_view> FindQueryParameter(std::string_view query, std::string_view name);

// The cookie of that name in the fields Cookie, as it was sent but without quotes around it; cases
// differ. Of several, the first.
std::optional<std::string_view> FindCookie(rule::HeaderFields fields, std::string_view name);

}  // namespace weir::wire
