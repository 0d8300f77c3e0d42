// What is wrong with a file of rules, where, and what would be right.
#pragma once

#include <string>
#include <vector>

namespace weir::rule {

// Lines and columns count from 1; 0: not known.
struct Place {
  int line = 0;
  int column = 0;

  bool operator==(const Place&) const = default;
};

struct Problem {
  std::string file;  // or whatever the text was read from
  Place place;
  std::string rule;  // its name; empty if it is not about one
  std::string what;  // "burst must be at least 1, got 0"
  std::string remedy;

  // "rules.yaml:14:12: rule 'login': burst must be at least 1, got 0; write ..."
  [[nodiscard]] std::string ToString() const;

  bool operator==(const Problem&) const = default;
};

// All that was found, in the order of the text.
using Problems = std::vector<Problem>;

}  // namespace weir::rule
