// What an edit would change, worked out from what is kept now: plain values, no database.
#pragma once

#include <string>
#include <vector>

#include "catalog/rule_store.h"
#include "catalog/stored_rules.h"
#include "rule/rule.h"

namespace weir {

// One rule that an edit changes, or would change.
struct Difference {
  enum class What : unsigned char {
    kCreated,
    kChanged,
    kDeleted,
    kMoved,  // to another place in the order, which Envoy's wildcards are tried in
  };
  What what = What::kChanged;
  std::string space;
  std::string name;
  std::string before;  // the text; empty if there was none
  std::string after;
};

struct Proposal {
  std::vector<catalog::StoredRule> before;  // all rules of the namespaces concerned
  std::vector<catalog::StoredRule> after;
  std::vector<catalog::Edit> edits;  // each made from what is in `before`
  std::vector<Difference> differences;
};

// `stored` is all of a namespace in the three below.
const catalog::StoredRule* FindRule(const std::vector<catalog::StoredRule>& stored,
                                    const std::string& name);

// Puts one rule, with the text as it is.
Proposal ProposePut(const std::vector<catalog::StoredRule>& stored, const std::string& space,
                    const std::string& name, const std::string& text);

// Makes the namespace what `wanted` says. Rules that mean the same as before are not touched, and
// neither is their order, unless there are descriptors: then it means something.
void ProposeSet(const std::vector<catalog::StoredRule>& stored, const rule::RuleSet& wanted,
                catalog::StoredRuleReader& reader, Proposal& into);

// Makes the rules in `past` as they are there, and deletes those that are not there. With a name,
// of this rule alone. Without edits: the store has its own way back.
Proposal ProposePast(const std::vector<catalog::StoredRule>& stored,
                     const std::vector<catalog::StoredRule>& past, const std::string& name);

// The rules as they were at a revision, by name. REQUIRES: `history` has the youngest first, and
// all of it.
std::vector<catalog::StoredRule> RulesAt(const std::vector<catalog::Change>& history,
                                         catalog::Revision at);

}  // namespace weir
