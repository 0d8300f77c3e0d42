// How it stands with every part of the server, what its rules have said so far, and who changed
// what.
#pragma once

#include "frontend/admin_call.h"

namespace weir {

AdminReply GetHealth(const AdminParts& parts, const AdminCall& call);
AdminReply GetStatus(const AdminParts& parts, const AdminCall& call);
AdminReply GetCounts(const AdminParts& parts, const AdminCall& call);
AdminReply GetAudit(const AdminParts& parts, const AdminCall& call);

}  // namespace weir
