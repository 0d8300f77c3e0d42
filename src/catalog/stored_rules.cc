#include "catalog/stored_rules.h"

#include <optional>
#include <string_view>
#include <utility>

#include "catalog/digest.h"
#include "rule/rule_file.h"

namespace weir::catalog {
namespace {

std::optional<rule::Rule> ReadOne(const StoredRule& stored, rule::Problems& problems) {
  const std::string where =
      stored.space + "/" + stored.name + "@" + std::to_string(stored.revision);
  std::optional<rule::Rule> read = rule::ReadRule(stored.text, where, problems);
  if (read && read->name != stored.name) {
    problems.push_back({where,
                        {},
                        read->name,
                        "is kept under the name '" + stored.name + "'",
                        "keep it under its own"});
    return std::nullopt;
  }
  return read;
}

}  // namespace

std::vector<rule::RuleSet> StoredRuleReader::Read(const std::vector<StoredRule>& stored,
                                                  rule::Problems& problems) {
  std::vector<rule::RuleSet> sets;
  std::unordered_map<std::string, rule::Rule> known;
  for (const StoredRule& one : stored) {
    if (sets.empty() || sets.back().space != one.space) sets.push_back({one.space, {}});
    const std::string digest = DigestOf({one.name, one.text});
    auto rule = known.find(digest);
    if (rule == known.end()) {
      if (auto earlier = known_.extract(digest)) {
        rule = known.insert(std::move(earlier)).position;
      } else if (std::optional<rule::Rule> read = ReadOne(one, problems)) {
        rule = known.emplace(digest, std::move(*read)).first;
      } else {
        continue;
      }
    }
    sets.back().rules.push_back(rule->second);
  }
  known_ = std::move(known);  // without those that are gone
  return sets;
}

std::string DigestOfRules(const std::vector<StoredRule>& rules) {
  std::vector<std::string_view> pieces;
  pieces.reserve(rules.size() * 3);
  for (const StoredRule& rule : rules) {
    pieces.insert(pieces.end(), {rule.space, rule.name, rule.text});
  }
  return DigestOf(pieces);
}

}  // namespace weir::catalog
