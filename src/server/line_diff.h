// Which lines of a text are gone, and which are new.
#pragma once

#include <string_view>
#include <vector>

namespace weir {

struct DiffLine {
  char mark = ' ';  // '-' gone, '+' new, ' ' in both
  std::string_view line;

  bool operator==(const DiffLine&) const = default;
};

// The shortest way from `before` to `after`, if they are not too long to find it. Views into both.
std::vector<DiffLine> DiffLines(std::string_view before, std::string_view after);

}  // namespace weir
