// Finds, among many patterns for one attribute, those that a value matches: what Matches() of
// pattern.h says of each, in a time that does not grow with those that do not match.
//
// Whole values are looked up in a table. Prefixes, and whatever globs and expressions begin with in
// plain text, are in one tree: a walk along the value finds all of them, and only what begins as
// the value does is tried.
//
// Thread safety: never changed once made.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "rule/address.h"
#include "rule/beginning_tree.h"
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
  // False if that finds nothing, as for most addresses.
  [[nodiscard]] bool MayMatch(const Address& address) const {
    return has_texts_ || networks_.MayHold(address);
  }

 private:
  // What a text leads to that a value begins with.
  struct Beginning {
    static constexpr std::uint32_t kNoHead = ~std::uint32_t{0};
    LiteralTable::Packed prefixes = LiteralTable::kNothing;  // found
    LiteralTable::Packed regexes = LiteralTable::kNothing;   // to be tried
    std::uint32_t glob_head = kNoHead;                       // likewise
  };

  // All but networks, which are all that there is for many an `ip`.
  void FindTexts(std::string_view value, Hits& hits) const;
  void FindByBeginning(const Beginning& beginning, std::size_t at, std::string_view value,
                       Hits& hits) const;

  LiteralTable table_;
  LiteralTable::Set exacts_;
  BeginningTree tree_;
  std::vector<Beginning> beginnings_;  // by the numbers of the texts in the tree
  LiteralTable::Packed present_ = LiteralTable::kNothing;
  GlobTree globs_;
  NetworkTable networks_;
  bool has_texts_ = false;
  RegexSet regexes_;
};

}  // namespace weir::rule
