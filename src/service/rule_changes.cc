#include "service/rule_changes.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "rule/rule_writer.h"

namespace weir {
namespace {

using catalog::Change;
using catalog::Revision;
using catalog::StoredRule;
using What = Difference::What;

// The rules of one namespace that can be read, by name.
std::unordered_map<std::string, rule::Rule> ReadByName(const std::vector<StoredRule>& stored,
                                                       catalog::StoredRuleReader& reader) {
  std::unordered_map<std::string, rule::Rule> rules;
  rule::Problems ignored;  // what cannot be read is no reason to keep it
  for (rule::RuleSet& set : reader.Read(stored, ignored)) {
    for (rule::Rule& rule : set.rules) {
      std::string name = rule.name;
      rules.emplace(std::move(name), std::move(rule));
    }
  }
  return rules;
}

bool HasDescriptors(const rule::RuleSet& set) {
  return std::any_of(set.rules.begin(), set.rules.end(),
                     [](const rule::Rule& rule) { return rule.descriptor.has_value(); });
}

// The rules that must be made anew, so that all stand in the order of `wanted`: what is made comes
// last. So a rule may stay if all before it stay, and they stood before it already.
std::set<std::string_view> WhatMoves(const std::vector<StoredRule>& stored,
                                     const rule::RuleSet& wanted) {
  std::unordered_map<std::string_view, std::size_t> places;
  for (std::size_t i = 0; i < stored.size(); ++i) places.emplace(stored[i].name, i + 1);
  std::set<std::string_view> moved;
  std::size_t last = 0;
  bool stays = true;
  for (const rule::Rule& rule : wanted.rules) {
    const auto place = places.find(rule.name);
    stays = stays && place != places.end() && place->second > last;
    if (stays) {
      last = place->second;
    } else if (place != places.end()) {
      moved.insert(rule.name);
    }
  }
  return moved;
}

// Notes what makes `after`, or nothing if it is empty, of a rule.
void Note(const std::string& space, const std::string& name, const StoredRule* before,
          const std::string& after, Proposal& into) {
  if (before != nullptr && before->text == after) return;
  const What what = before == nullptr ? What::kCreated
                    : after.empty()   ? What::kDeleted
                                      : What::kChanged;
  into.differences.push_back(
      {what, space, name, before != nullptr ? before->text : std::string(), after});
}

}  // namespace

const StoredRule* FindRule(const std::vector<StoredRule>& stored, const std::string& name) {
  const auto found = std::find_if(stored.begin(), stored.end(),
                                  [&name](const StoredRule& rule) { return rule.name == name; });
  return found != stored.end() ? &*found : nullptr;
}

Proposal ProposePut(const std::vector<StoredRule>& stored, const std::string& space,
                    const std::string& name, const std::string& text) {
  Proposal proposal{.before = stored, .after = stored, .edits = {}, .differences = {}};
  const StoredRule* before = FindRule(stored, name);
  if (before == nullptr) {
    proposal.after.push_back({space, name, 0, text});
  } else {
    proposal.after[static_cast<std::size_t>(before - stored.data())].text = text;
  }
  proposal.edits = {{space, name, text, before != nullptr ? before->revision : 0}};
  Note(space, name, before, text, proposal);
  return proposal;
}

void ProposeSet(const std::vector<StoredRule>& stored, const rule::RuleSet& wanted,
                catalog::StoredRuleReader& reader, Proposal& into) {
  const std::unordered_map<std::string, rule::Rule> known = ReadByName(stored, reader);
  std::unordered_map<std::string_view, const StoredRule*> left;  // that the set does not have
  for (const StoredRule& rule : stored) left.emplace(rule.name, &rule);
  const std::set<std::string_view> moved =
      HasDescriptors(wanted) ? WhatMoves(stored, wanted) : std::set<std::string_view>();

  into.before.insert(into.before.end(), stored.begin(), stored.end());
  for (const rule::Rule& rule : wanted.rules) {
    const auto found = left.find(rule.name);
    const StoredRule* before = found != left.end() ? found->second : nullptr;
    if (before != nullptr) left.erase(found);
    const auto same = known.find(rule.name);
    const bool unchanged = before != nullptr && same != known.end() && same->second == rule;
    const std::string text = unchanged ? before->text : rule::WriteRule(rule);
    const Revision revision = before != nullptr ? before->revision : 0;
    into.after.push_back({wanted.space, rule.name, unchanged ? revision : 0, text});
    if (moved.contains(rule.name)) {
      into.edits.push_back({wanted.space, rule.name, std::nullopt, revision});
      into.edits.push_back({wanted.space, rule.name, text, 0});
    } else if (!unchanged) {
      into.edits.push_back({wanted.space, rule.name, text, revision});
    }
    if (!unchanged) {
      Note(wanted.space, rule.name, before, text, into);
    } else if (moved.contains(rule.name)) {
      into.differences.push_back({What::kMoved, wanted.space, rule.name, text, text});
    }
  }
  for (const StoredRule& rule : stored) {
    if (!left.contains(rule.name)) continue;
    into.edits.push_back({rule.space, rule.name, std::nullopt, rule.revision});
    Note(rule.space, rule.name, &rule, "", into);
  }
}

Proposal ProposePast(const std::vector<StoredRule>& stored, const std::vector<StoredRule>& past,
                     const std::string& name) {
  Proposal proposal{.before = stored, .after = {}, .edits = {}, .differences = {}};
  std::unordered_map<std::string_view, const StoredRule*> then;
  for (const StoredRule& rule : past) then.emplace(rule.name, &rule);
  for (const StoredRule& now : stored) {
    const auto found = then.find(now.name);
    const bool concerned = name.empty() || now.name == name;
    if (!concerned) {
      proposal.after.push_back(now);
    } else if (found == then.end()) {
      Note(now.space, now.name, &now, "", proposal);
    } else {
      proposal.after.push_back(*found->second);
      Note(now.space, now.name, &now, found->second->text, proposal);
    }
    if (found != then.end()) then.erase(found);
  }
  for (const StoredRule& rule : past) {
    if (!then.contains(rule.name)) continue;
    proposal.after.push_back(rule);
    Note(rule.space, rule.name, nullptr, rule.text, proposal);
  }
  return proposal;
}

std::vector<StoredRule> RulesAt(const std::vector<Change>& history, Revision at) {
  std::vector<StoredRule> rules;
  std::set<std::string_view> seen;
  for (const Change& change : history) {
    if (change.revision > at || !seen.insert(change.name).second || !change.text) continue;
    rules.push_back({change.space, change.name, change.revision, *change.text});
  }
  std::sort(rules.begin(), rules.end(),
            [](const StoredRule& a, const StoredRule& b) { return a.name < b.name; });
  return rules;
}

}  // namespace weir
