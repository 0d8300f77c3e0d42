// Which condition of a match it is found by.
//
// A match is looked at only if its anchor holds, so the anchor should rarely hold in vain: an exact
// path that few others ask for, rather than `method: POST`, which is everywhere.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "rule/rule.h"

namespace weir::rule {

struct Anchor {
  enum class Kind : unsigned char {
    kCondition,  // number `condition` of the match
    kNone,       // no condition can be looked up: the match is looked at for every request
    kNever,      // one condition cannot hold
  };
  Kind kind = Kind::kNone;
  std::size_t condition = 0;
};

// One for each match.
std::vector<Anchor> ChooseAnchors(std::span<const Match* const> matches);

}  // namespace weir::rule
