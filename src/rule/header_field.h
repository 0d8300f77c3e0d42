// Header fields of a request as they came: names in any case, one name perhaps on several lines.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "base/ascii.h"

namespace weir::rule {

struct HeaderField {
  std::string_view name;
  std::string_view value;
};

// In the order of the request.
using HeaderFields = std::span<const HeaderField>;

using weir::SameIgnoringCase;
using weir::ToLower;

// Without the spaces and tabs around it.
constexpr std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

}  // namespace weir::rule
