// Why a request would pass or not: every rule with its reason, and what each limit says now.
#pragma once

#include "frontend/admin_call.h"

namespace weir {

// A look: nothing is counted.
AdminReply ExplainCall(const AdminParts& parts, const AdminCall& call);

}  // namespace weir
