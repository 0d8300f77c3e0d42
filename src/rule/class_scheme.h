// What it takes to tell the classes of a namespace's requests (request_classes.h): all patterns
// that rules and their overrides have, by attribute. Made with the rules.
//
// Thread safety: never changed once made.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "rule/attribute.h"
#include "rule/pattern_index.h"
#include "rule/pattern_trie.h"
#include "rule/rule.h"

namespace weir::rule {

class ClassScheme {
 public:
  // Attributes that are asked about, the address aside.
  static constexpr std::size_t kMostAsked = 12;

  // Empty: nothing is asked.
  ClassScheme() = default;
  // Of these conditions. REQUIRES: the schema knows their attributes
  ClassScheme(std::span<const Condition* const> conditions, const Schema& schema);

  // False: some conditions take more than this.
  [[nodiscard]] bool is_usable() const { return is_usable_; }

 private:
  friend class RequestClasses;
  struct Asked {
    Schema::Number attribute = 0;
    PatternTrie patterns;
  };
  std::vector<Asked> asked_;
  std::optional<PatternIndex> networks_;
  bool is_usable_ = true;
};

}  // namespace weir::rule
