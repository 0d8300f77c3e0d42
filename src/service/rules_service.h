// What can be done with the rules that are kept: protocol-neutral, for the command line and for the
// admin API.
//
// Every edit is validated before it reaches the store, together with the rules it will stand
// beside, so that what is kept can always be put in force. An edit may leave in place what is wrong
// already (a newer version may have written it), or else nothing could be mended.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "catalog/rule_files.h"
#include "catalog/rule_store.h"
#include "catalog/stored_rules.h"
#include "rule/problem.h"
#include "service/rule_changes.h"

namespace weir {

// Why something was not done.
struct Refused {
  enum class Why : unsigned char { kInvalid, kConflict, kNotFound, kFailed };
  Why why = Why::kFailed;
  std::string message;      // empty if the problems say it all
  rule::Problems problems;  // kInvalid
};

template <typename T>
using ServiceResult = std::variant<T, Refused>;

enum class Intent : unsigned char {
  kForReal,
  kDryRun,  // validates and tells the differences, and changes nothing
};

struct Applied {
  // Of the last change that was made; if none was, what is in force.
  catalog::Revision revision = 0;
  std::vector<Difference> differences;
  rule::Problems doubts;  // of an import: what is no problem and still no good
};

// Thread safety: one thread at a time, like the store.
class RulesService {
 public:
  explicit RulesService(std::unique_ptr<catalog::RuleStore> store) : store_(std::move(store)) {}

  // A namespace that never had rules is not found; one whose rules were deleted is empty.
  ServiceResult<std::vector<catalog::StoredRule>> List(std::optional<std::string_view> space);
  ServiceResult<catalog::StoredRule> Get(const std::string& space, const std::string& name);
  // Of a rule, or of a namespace if `name` is empty; the youngest first, at most `most`.
  ServiceResult<std::vector<catalog::Change>> History(const std::string& space,
                                                      const std::string& name, int most);

  // Of the last change to anything in the namespace; 0 if there never was one.
  ServiceResult<catalog::Revision> RevisionOf(const std::string& space);
  // What changed from one revision to the other, of a rule or of a namespace if `name` is empty.
  ServiceResult<std::vector<Difference>> Diff(const std::string& space, const std::string& name,
                                              catalog::Revision from, catalog::Revision to);

  // Creates or updates one rule from the YAML of it, which is kept as it is. `made_from`: as in
  // catalog::Edit.
  ServiceResult<Applied> Put(const std::string& space, const catalog::RuleFile& file,
                             std::optional<catalog::Revision> made_from,
                             const catalog::Authorship& by, Intent intent = Intent::kForReal);
  ServiceResult<Applied> Delete(const std::string& space, const std::string& name,
                                std::optional<catalog::Revision> made_from,
                                const catalog::Authorship& by, Intent intent = Intent::kForReal);
  // Of a namespace if `name` is empty.
  ServiceResult<Applied> Rollback(const std::string& space, const std::string& name,
                                  catalog::Revision to, const catalog::Authorship& by,
                                  Intent intent = Intent::kForReal);
  // Makes each namespace what its file says, ours or Envoy's: creates, updates, deletes. All files
  // in one change, or none.
  ServiceResult<Applied> Import(const std::vector<catalog::RuleFile>& files,
                                const catalog::Authorship& by, Intent intent = Intent::kForReal);
  // Makes one namespace what the file says, which must be of it. `made_from`: as RevisionOf(); if
  // another one is in force, nothing is changed.
  ServiceResult<Applied> Replace(const std::string& space, const catalog::RuleFile& file,
                                 std::optional<catalog::Revision> made_from,
                                 const catalog::Authorship& by, Intent intent = Intent::kForReal);
  // The namespace as a file, which Import() takes back.
  ServiceResult<std::string> Export(const std::string& space);

 private:
  Refused NoSuchRule(const std::string& space, const std::string& name,
                     const std::vector<catalog::StoredRule>& stored) const;
  // Why the rules cannot be as proposed, if they cannot.
  std::optional<Refused> Validate(const Proposal& proposal, const catalog::Authorship& by);
  // Makes the edits unless it is a dry run. `in_force` is told if there are none.
  ServiceResult<Applied> Make(Proposal proposal, catalog::Revision in_force,
                              const catalog::Authorship& by, Intent intent);

  std::unique_ptr<catalog::RuleStore> store_;
  catalog::StoredRuleReader reader_;
};

}  // namespace weir
