// One client under one rule: look it up, have it forgotten, give it another limit for a while.
#pragma once

#include <vector>

#include "frontend/admin_call.h"
#include "frontend/json_text.h"
#include "service/key_lookup.h"

namespace weir {

AdminReply LookUpClient(const AdminParts& parts, const AdminCall& call);
AdminReply ResetClient(const AdminParts& parts, const AdminCall& call);
AdminReply OverrideClient(const AdminParts& parts, const AdminCall& call);
AdminReply RestoreClient(const AdminParts& parts, const AdminCall& call);

// The member `keys`.
void WriteKeys(const std::vector<KeyState>& keys, JsonText& json);

}  // namespace weir
