// Finds, among many patterns for one attribute, those that a value matches: what Matches() of
// pattern.h says of each, in a time that does not grow with those that do not match.
//
// Thread safety: never changed once made.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "rule/address.h"
#include "rule/glob_tree.h"
#include "rule/literal_table.h"
#include "rule/network_table.h"
#include "rule/regex_set.h"
#include "rule/rule.h"

namespace weir::rule {

class PatternIndex {
 public:
  struct Entry {
    const Pattern* pattern;
    std::uint32_t number;  // below LiteralTable::kMostNumbers
  };

  // REQUIRES: the patterns make sense
  explicit PatternIndex(std::span<const Entry> entries);

  // Adds the numbers of the patterns that match, in no order; one that was given for two patterns
  // may be found twice. REQUIRES: the value is not absent
  void Find(std::string_view value, Hits& hits) const;
  // The same where the value was read as an address before.
  void Find(std::string_view value, const std::optional<Address>& address, Hits& hits) const;

 private:
  void FindTexts(std::string_view value, Hits& hits) const;

  LiteralTable table_;
  LiteralTable::Set exacts_;
  LiteralTable::Set prefixes_;
  LiteralTable::Packed present_ = LiteralTable::kNothing;
  GlobTree globs_;
  NetworkTable networks_;
  RegexSet regexes_;
};

}  // namespace weir::rule
