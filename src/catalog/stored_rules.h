// Rules as the database keeps them, text by text, made into rules.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "catalog/rule_store.h"
#include "rule/problem.h"
#include "rule/rule.h"

namespace weir::catalog {

// Remembers what it has read: of many rules few change at a time, and reading text is what takes
// long. (It is 50 us for a rule, so that one edit among 100 000 would take five seconds.)
class StoredRuleReader {
 public:
  // The rules of each namespace in their order. REQUIRES: `stored` is ordered by namespace.
  // What is wrong is told of NAMESPACE/NAME@REVISION; the rules concerned are left out.
  std::vector<rule::RuleSet> Read(const std::vector<StoredRule>& stored, rule::Problems& problems);

 private:
  std::unordered_map<std::string, rule::Rule> known_;  // by digest of name and text
};

// Differs if the rules differ.
std::string DigestOfRules(const std::vector<StoredRule>& rules);

}  // namespace weir::catalog
