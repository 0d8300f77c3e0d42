#include "service/rules_service.h"

#include <algorithm>
#include <limits>

#include "catalog/edit_check.h"
#include "catalog/file_sets.h"
#include "rule/closest.h"
#include "rule/rule_file.h"
#include "rule/rule_writer.h"
#include "rule/rulebook.h"
#include "rule/utf8.h"

namespace weir {
namespace {

using catalog::Authorship;
using catalog::Change;
using catalog::Conflict;
using catalog::Revision;
using catalog::StoredRule;
using Why = Refused::Why;

Refused Failed(const Error& error) { return {Why::kFailed, error.message, {}}; }
Refused Invalid(const Error& error) { return {Why::kInvalid, error.message, {}}; }
Refused Invalid(rule::Problems problems) { return {Why::kInvalid, "", std::move(problems)}; }
Refused Conflicts(const Conflict& conflict) { return {Why::kConflict, conflict.ToString(), {}}; }

Refused SpaceConflicts(const std::string& space, Revision made_from, Revision in_force) {
  return {Why::kConflict,
          "namespace " + rule::Shown(space) + " was changed: the edit was made from revision " +
              std::to_string(made_from) + ", and " + std::to_string(in_force) +
              " is in force; read that one and make the edit again",
          {}};
}

std::string Named(const std::string& space, const std::string& name) {
  return name.empty() ? "namespace " + rule::Shown(space)
                      : "rule " + rule::Shown(space) + "/" + rule::Shown(name);
}

Refused NeverThere(const std::string& space, const std::string& name) {
  return {Why::kNotFound, "there never was a " + Named(space, name), {}};
}

ServiceResult<Revision> ResultOf(const catalog::StoreResult<Revision>& result) {
  if (const auto* conflict = std::get_if<Conflict>(&result)) return Conflicts(*conflict);
  if (const auto* error = std::get_if<Error>(&result)) return Failed(*error);
  return std::get<Revision>(result);
}

// What keeps the rules from being put in force together.
rule::Problems ProblemsOf(const std::vector<StoredRule>& rules, catalog::StoredRuleReader& reader) {
  rule::Problems problems;
  std::vector<rule::RuleSet> sets = reader.Read(rules, problems);
  rule::Rulebook::Compile(std::move(sets), problems);
  return problems;
}

}  // namespace

ServiceResult<std::vector<StoredRule>> RulesService::List(std::optional<std::string_view> space) {
  Result<std::vector<StoredRule>> rules = store_->List(space);
  if (!rules) return Failed(rules.error());
  if (space && rules->empty()) {
    const Result<std::vector<Change>> history = store_->History(*space, "", 1);
    if (!history) return Failed(history.error());
    if (history->empty()) return NeverThere(std::string(*space), "");
  }
  return std::move(*rules);
}

ServiceResult<StoredRule> RulesService::Get(const std::string& space, const std::string& name) {
  Result<std::optional<StoredRule>> rule = store_->Get(space, name);
  if (!rule) return Failed(rule.error());
  if (*rule) return std::move(**rule);
  const Result<std::vector<StoredRule>> others = store_->List(space);
  if (!others) return Failed(others.error());
  return NoSuchRule(space, name, *others);
}

ServiceResult<std::vector<Change>> RulesService::History(const std::string& space,
                                                         const std::string& name, int most) {
  Result<std::vector<Change>> changes = store_->History(space, name, most);
  if (!changes) return Failed(changes.error());
  if (changes->empty()) return NeverThere(space, name);
  return std::move(*changes);
}

ServiceResult<Revision> RulesService::RevisionOf(const std::string& space) {
  const Result<std::vector<Change>> last = store_->History(space, "", 1);
  if (!last) return Failed(last.error());
  return last->empty() ? Revision{0} : last->front().revision;
}

ServiceResult<std::vector<Difference>> RulesService::Diff(const std::string& space,
                                                          const std::string& name, Revision from,
                                                          Revision to) {
  const ServiceResult<std::vector<Change>> history =
      History(space, name, std::numeric_limits<int>::max());
  if (const auto* refused = std::get_if<Refused>(&history)) return *refused;
  const auto& changes = std::get<std::vector<Change>>(history);
  return ProposePast(RulesAt(changes, from), RulesAt(changes, to), name).differences;
}

ServiceResult<Applied> RulesService::Put(const std::string& space, const catalog::RuleFile& file,
                                         std::optional<Revision> made_from, const Authorship& by,
                                         Intent intent) {
  rule::Problems problems;
  if (auto wrong = rule::WhatIsWrongWithSpace(space, "")) problems.push_back(*std::move(wrong));
  const std::optional<rule::Rule> rule = rule::ReadRule(file.text, file.name, problems);
  if (!problems.empty()) return Invalid(std::move(problems));
  const Result<std::vector<StoredRule>> stored = store_->List(space);
  if (!stored) return Failed(stored.error());
  const StoredRule* before = FindRule(*stored, rule->name);
  const Revision in_force = before != nullptr ? before->revision : 0;
  if (made_from && *made_from != in_force) {
    return Conflicts({space, rule->name, *made_from, in_force});
  }
  Proposal proposal = ProposePut(*stored, space, rule->name, file.text);
  if (auto refused = Validate(proposal, by)) return *std::move(refused);
  return Make(std::move(proposal), in_force, by, intent);
}

ServiceResult<Applied> RulesService::Delete(const std::string& space, const std::string& name,
                                            std::optional<Revision> made_from, const Authorship& by,
                                            Intent intent) {
  const Result<std::vector<StoredRule>> stored = store_->List(space);
  if (!stored) return Failed(stored.error());
  const StoredRule* before = FindRule(*stored, name);
  const Revision in_force = before != nullptr ? before->revision : 0;
  if (made_from && *made_from != in_force) return Conflicts({space, name, *made_from, in_force});
  if (before == nullptr) return NoSuchRule(space, name, *stored);
  if (auto wrong = catalog::CheckAuthorship(by)) return Invalid(*wrong);
  // Fewer rules can always be in force together: there is nothing else to validate.
  Proposal proposal;
  proposal.edits = {{space, name, std::nullopt, in_force}};
  proposal.differences = {{Difference::What::kDeleted, space, name, before->text, ""}};
  return Make(std::move(proposal), in_force, by, intent);
}

ServiceResult<Applied> RulesService::Rollback(const std::string& space, const std::string& name,
                                              Revision to, const Authorship& by, Intent intent) {
  const Result<Revision> latest = store_->Latest();
  if (!latest) return Failed(latest.error());
  const Result<std::vector<Change>> history =
      store_->History(space, name, std::numeric_limits<int>::max());
  if (!history) return Failed(history.error());
  if (history->empty()) return NeverThere(space, name);
  if (to < 1 || to > *latest) {
    return Invalid(Error{"there is no revision " + std::to_string(to) +
                         " to roll back to; from 1 to " + std::to_string(*latest) + " there is"});
  }
  const Result<std::vector<StoredRule>> stored = store_->List(space);
  if (!stored) return Failed(stored.error());
  Proposal proposal = ProposePast(*stored, RulesAt(*history, to), name);
  if (auto refused = Validate(proposal, by)) return *std::move(refused);
  Applied applied{*latest, std::move(proposal.differences), {}};
  if (intent == Intent::kDryRun) return applied;
  const ServiceResult<Revision> revision = ResultOf(store_->Rollback(space, name, to, by));
  if (const auto* refused = std::get_if<Refused>(&revision)) return *refused;
  applied.revision = std::get<Revision>(revision);
  return applied;
}

ServiceResult<Applied> RulesService::Import(const std::vector<catalog::RuleFile>& files,
                                            const Authorship& by, Intent intent) {
  rule::Problems problems;
  rule::Problems doubts;
  const std::vector<catalog::FileSet> sets = catalog::ReadFileSets(files, problems, &doubts);
  for (const catalog::FileSet& file : sets) {
    auto wrong = rule::WhatIsWrongWithSpace(file.set.space, file.file);
    if (wrong) problems.push_back(*std::move(wrong));
  }
  if (!problems.empty()) return Invalid(std::move(problems));

  const Result<Revision> latest = store_->Latest();
  if (!latest) return Failed(latest.error());
  Proposal proposal;
  for (const catalog::FileSet& file : sets) {
    const Result<std::vector<StoredRule>> stored = store_->List(file.set.space);
    if (!stored) return Failed(stored.error());
    ProposeSet(*stored, file.set, reader_, proposal);
  }
  if (auto refused = Validate(proposal, by)) return *std::move(refused);
  ServiceResult<Applied> made = Make(std::move(proposal), *latest, by, intent);
  if (auto* applied = std::get_if<Applied>(&made)) applied->doubts = std::move(doubts);
  return made;
}

ServiceResult<Applied> RulesService::Replace(const std::string& space,
                                             const catalog::RuleFile& file,
                                             std::optional<Revision> made_from,
                                             const Authorship& by, Intent intent) {
  rule::Problems problems;
  rule::Problems doubts;
  const std::vector<catalog::FileSet> sets = catalog::ReadFileSets({file}, problems, &doubts);
  if (auto wrong = rule::WhatIsWrongWithSpace(space, file.name)) problems.push_back(*wrong);
  if (problems.empty() && (sets.size() != 1 || sets.front().set.space != space)) {
    return Invalid(Error{file.name + ": these are not the rules of namespace " +
                         rule::Shown(space) + "; its first line must name that one"});
  }
  if (!problems.empty()) return Invalid(std::move(problems));

  const Result<std::vector<StoredRule>> stored = store_->List(space);
  if (!stored) return Failed(stored.error());
  // Asked after the rules were read: if it is still the one, they are of it. What changes later is
  // a conflict of the edits.
  const ServiceResult<Revision> now = RevisionOf(space);
  if (const auto* refused = std::get_if<Refused>(&now)) return *refused;
  const Revision in_force = std::get<Revision>(now);
  if (made_from && *made_from != in_force) return SpaceConflicts(space, *made_from, in_force);
  Proposal proposal;
  ProposeSet(*stored, sets.front().set, reader_, proposal);
  if (auto refused = Validate(proposal, by)) return *std::move(refused);
  ServiceResult<Applied> made = Make(std::move(proposal), in_force, by, intent);
  if (auto* applied = std::get_if<Applied>(&made)) applied->doubts = std::move(doubts);
  return made;
}

ServiceResult<std::string> RulesService::Export(const std::string& space) {
  const ServiceResult<std::vector<StoredRule>> stored = List(space);
  if (const auto* refused = std::get_if<Refused>(&stored)) return *refused;
  rule::Problems problems;
  std::vector<rule::RuleSet> sets =
      reader_.Read(std::get<std::vector<StoredRule>>(stored), problems);
  if (!problems.empty()) return Invalid(std::move(problems));
  if (sets.empty()) return rule::WriteRules({space, {}});
  return rule::WriteRules(sets.front());
}

Refused RulesService::NoSuchRule(const std::string& space, const std::string& name,
                                 const std::vector<StoredRule>& stored) const {
  std::string message = "there is no " + Named(space, name);
  constexpr std::size_t kFew = 20;  // of more, nobody reads the names
  if (!stored.empty() && stored.size() <= kFew) {
    std::vector<std::string_view> names;
    names.reserve(stored.size());
    for (const StoredRule& rule : stored) names.push_back(rule.name);
    message += "; " + rule::Suggest(name, names);
  }
  return {Why::kNotFound, std::move(message), {}};
}

std::optional<Refused> RulesService::Validate(const Proposal& proposal, const Authorship& by) {
  if (auto wrong = catalog::CheckAuthorship(by)) return Invalid(*wrong);
  if (auto wrong = catalog::CheckEdits(proposal.edits)) return Invalid(*wrong);
  rule::Problems problems = ProblemsOf(proposal.after, reader_);
  if (problems.empty()) return std::nullopt;
  const rule::Problems old = ProblemsOf(proposal.before, reader_);
  std::erase_if(problems, [&old](const rule::Problem& problem) {
    return std::find(old.begin(), old.end(), problem) != old.end();
  });
  if (problems.empty()) return std::nullopt;
  return Invalid(std::move(problems));
}

ServiceResult<Applied> RulesService::Make(Proposal proposal, Revision in_force,
                                          const Authorship& by, Intent intent) {
  Applied applied{in_force, std::move(proposal.differences), {}};
  if (intent == Intent::kDryRun || applied.differences.empty()) return applied;
  const ServiceResult<Revision> revision = ResultOf(store_->Apply(proposal.edits, by));
  if (const auto* refused = std::get_if<Refused>(&revision)) return *refused;
  applied.revision = std::get<Revision>(revision);
  return applied;
}

}  // namespace weir
