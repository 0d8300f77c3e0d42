// The admin API described by itself: an OpenAPI 3.1 document, made from the table of its calls.
#pragma once

#include <string>

#include "frontend/admin_call.h"

namespace weir {

std::string OpenApiText(std::string_view version);

AdminReply GetOpenApi(const AdminParts& parts, const AdminCall& call);

}  // namespace weir
