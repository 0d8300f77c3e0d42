// One request to the admin API, from its head and body to the answer: finds the call in the table
// of routes, sees to it that the caller may, and that nothing was sent that the call does not know.
//
// What is not known is refused, not ignored: whoever writes ?dryrun=true must not be taken at their
// word for real.
#pragma once

#include <string_view>

#include "frontend/admin_call.h"
#include "wire/http_request.h"

namespace weir {

// REQUIRES: `body` is all of it.
AdminReply AnswerAdmin(const AdminParts& parts, const wire::HttpRequest& request,
                       std::string_view body, Instant now);

}  // namespace weir
