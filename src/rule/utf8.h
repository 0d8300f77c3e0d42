// Text from outside: is it UTF-8, and how is it shown in a message?
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace weir::rule {

// The offset of the first byte that is not part of valid UTF-8 (or is a NUL), or npos.
std::size_t FirstInvalidUtf8(std::string_view text);

// `text` with every byte that is not part of valid UTF-8 replaced by '?'.
std::string Valid(std::string_view text);

// Safe to print and short: control characters and bytes that are not UTF-8 become '?', and what is
// longer than 60 characters ends in "...".
std::string Shown(std::string_view text);

}  // namespace weir::rule
