// What the rules were before: their history, what changed between two revisions, and the way back.
#pragma once

#include "frontend/admin_call.h"

namespace weir {

// Of a namespace, or of one rule if the path names one.
AdminReply GetHistory(const AdminParts& parts, const AdminCall& call);
AdminReply GetDiff(const AdminParts& parts, const AdminCall& call);
AdminReply RollBackRules(const AdminParts& parts, const AdminCall& call);

}  // namespace weir
