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
  constexpr auto kIsBlank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && kIsBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && kIsBlank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace weir::rule
