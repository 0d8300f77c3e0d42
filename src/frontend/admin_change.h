// A change of rules by a call: tried out, recorded, made, and put in force.
//
// What is recorded is what will be done: so it is tried out first, and a change that would fail
// leaves no trace. A change that cannot be recorded is not made.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "frontend/admin_call.h"
#include "frontend/json_text.h"

namespace weir {

struct AdminChange {
  std::string action;  // "rules.put"
  std::string space;
  std::string name;  // empty: of the namespace
  // Makes it from `made_from` (nothing: from whatever is there).
  std::function<ServiceResult<Applied>(std::optional<catalog::Revision> made_from,
                                       const catalog::Authorship& by, Intent intent)>
      make;
};

// The whole way, from the precondition to the answer.
AdminReply MakeChange(const AdminParts& parts, const AdminCall& call, const AdminChange& change);

// The revision that is in force, of a rule or of a namespace if `name` is empty; 0: there is none.
ServiceResult<catalog::Revision> RevisionInForce(RulesService& rules, const std::string& space,
                                                 const std::string& name);

// The members `differences`, as many as are told, and `left_out`, how many are not.
void WriteDifferences(const std::vector<Difference>& differences, JsonText& json);

// Records a change that is about to be made; the refusal, if it cannot be.
std::optional<AdminReply> Record(const AdminParts& parts, const AuditEntry& entry);

}  // namespace weir
