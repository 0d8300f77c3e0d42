// What matches ask for besides the condition they are found by.
//
// Thousands of matches ask for `method: POST`. Equal conditions, and equal lists of them, are kept
// once: they stay in the cache, and an expression is compiled once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rule/attribute.h"
#include "rule/compiled_condition.h"
#include "rule/rule.h"

namespace weir::rule {

class RestConditions {
 public:
  // One list for each match. REQUIRES: the schema knows their attributes
  RestConditions(std::span<const std::vector<const Condition*>> rests, const Schema& schema);

  [[nodiscard]] bool Hold(std::uint32_t match, const Values& values) const {
    for (const std::uint32_t condition : lists_[list_of_[match]]) {
      if (!conditions_[condition].Holds(values)) return false;
    }
    return true;
  }

 private:
  std::vector<std::uint32_t> list_of_;             // of match m: in lists_
  std::vector<std::vector<std::uint32_t>> lists_;  // of numbers in conditions_
  std::vector<CompiledCondition> conditions_;
};

}  // namespace weir::rule
