// What may be the name of a user, whoever vouches for it.
#pragma once

#include <cstddef>
#include <string_view>

namespace weir::rule {

inline constexpr std::size_t kLongestUserName = 256;  // bytes

// Valid UTF-8 without control characters, not empty and not too long: it will be shown in logs and
// explanations.
bool IsUserName(std::string_view text);

}  // namespace weir::rule
