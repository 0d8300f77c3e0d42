// A condition, ready to be tried.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "rule/address.h"
#include "rule/attribute.h"
#include "rule/pattern_index.h"
#include "rule/regex.h"
#include "rule/rule.h"

namespace weir::rule {

class CompiledCondition {
 public:
  // REQUIRES: the patterns make sense
  CompiledCondition(const Condition& condition, Schema::Number attribute);

  [[nodiscard]] bool Holds(const Values& values) const {
    return (values.Has(attribute_) && AnyMatches(values)) != negated_;
  }

 private:
  // What takes time to make from the text is made once.
  struct Prepared {
    explicit Prepared(const Pattern& from);
    [[nodiscard]] bool Matches(std::string_view value) const;

    Pattern pattern;
    std::optional<Regex> regex;
    std::optional<Network> network;
  };

  [[nodiscard]] bool AnyMatches(const Values& values) const;

  Schema::Number attribute_;
  bool negated_;
  std::vector<Prepared> any_of_;
  std::unique_ptr<const PatternIndex> many_;  // in place of any_of_, where that would be long
};

}  // namespace weir::rule
