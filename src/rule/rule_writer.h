// Rules as text, in the one way that we write them: what rule_file.h reads back as the same rules.
//
// Fields stand in the order of docs/rules.md (a descriptor behind the name), small maps and lists
// on one line, and what is the default is left out.
#pragma once

#include <string>

#include "rule/rule.h"

namespace weir::rule {

// REQUIRES of both: the rules make sense, as those that were read do.
std::string WriteRule(const Rule& rule);
std::string WriteRules(const RuleSet& set);

}  // namespace weir::rule
