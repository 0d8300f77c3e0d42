// Who asks most, who is refused most, and the last decisions: what service/watch.h has seen.
#pragma once

#include "frontend/admin_call.h"

namespace weir {

AdminReply GetDecisions(const AdminParts& parts, const AdminCall& call);
AdminReply GetTop(const AdminParts& parts, const AdminCall& call);

}  // namespace weir
