// What can be done with the rules that are kept: protocol-neutral, for the command line now and for
// HTTP later.
//
// Every edit is validated before it reaches the store, together with the rules it will stand
// beside, so that what is kept can always be put in force.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "catalog/rule_store.h"
#include "rule/problem.h"
#include "rule/rule.h"
#include "weir/result.h"

namespace weir {

// Why an edit was not made.
struct Refused {
  enum class Why : unsigned char { kInvalid, kConflict, kNotFound, kFailed };
  Why why = Why::kFailed;
  std::string message;
  rule::Problems problems;  // kInvalid
};

template <typename T>
using ServiceResult = std::variant<T, Refused>;

// One line of what an edit changes, or would change.
struct Difference {
  enum class What : unsigned char { kCreated, kChanged, kDeleted };
  What what = What::kChanged;
  std::string space;
  std::string name;
  std::string before;  // the text; empty if there was none
  std::string after;
};

enum class Run : unsigned char { kForReal, kDry };

struct Applied {
  catalog::Revision revision = 0;  // in force afterwards
  std::vector<Difference> differences;
};

// Thread safety: one thread at a time, like the store.
class RulesService {
 public:
  explicit RulesService(std::unique_ptr<catalog::RuleStore> store);

  ServiceResult<std::vector<catalog::StoredRule>> List(std::optional<std::string_view> space);
  ServiceResult<catalog::StoredRule> Get(std::string_view space, std::string_view name);
  ServiceResult<std::vector<catalog::Change>> History(std::string_view space, std::string_view name,
                                                      int most);

  // Creates or updates one rule from the YAML of it. `made_from`: see catalog::Edit.
  ServiceResult<Applied> Put(std::string_view space, std::string_view text, const std::string& file,
                             std::optional<catalog::Revision> made_from,
                             const catalog::Authorship& by, Run run = Run::kForReal);
  ServiceResult<Applied> Delete(std::string_view space, std::string_view name,
                                std::optional<catalog::Revision> made_from,
                                const catalog::Authorship& by, Run run = Run::kForReal);
  ServiceResult<Applied> Rollback(std::string_view space, std::string_view name,
                                  catalog::Revision to, const catalog::Authorship& by,
                                  Run run = Run::kForReal);
  // Makes a namespace what the file says: creates, updates, deletes. Ours or Envoy's format.
  ServiceResult<Applied> Import(std::string_view text, const std::string& file,
                                const catalog::Authorship& by, Run run = Run::kForReal);
  // The namespace as a file, which Import() takes back.
  ServiceResult<std::string> Export(std::string_view space);

 private:
  std::unique_ptr<catalog::RuleStore> store_;
};

}  // namespace weir
