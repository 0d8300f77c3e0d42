// Header fields of a request as they came: names in any case, one name perhaps on several lines.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace weir::rule {

struct HeaderField {
  std::string_view name;
  std::string_view value;
};

// In the order of the request.
using HeaderFields = std::span<const HeaderField>;

// Of ASCII alone, whatever the locale: names on the wire have no other letters.
constexpr char ToLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

// From the end: names of one length are more alike at their beginning (x-forwarded-for, -uri).
constexpr bool SameIgnoringCase(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = a.size(); i > 0; --i) {
    const char x = a[i - 1];
    const char y = b[i - 1];
    if (x != y && ToLower(x) != ToLower(y)) return false;
  }
  return true;
}

// Without the spaces and tabs around it.
constexpr std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace weir::rule
