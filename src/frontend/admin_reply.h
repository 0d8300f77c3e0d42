// Answers that calls of the admin API have in common. Each that says no says what to do instead.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/admin_call.h"
#include "frontend/json_text.h"
#include "rule/problem.h"
#include "service/rules_service.h"
#include "weir/result.h"

namespace weir {

AdminReply Answered(JsonText& json);

// application/problem+json.
AdminReply Refusal(std::uint16_t status, std::string_view detail);
// With the list of what is wrong, each with its place.
AdminReply Refusal(std::uint16_t status, std::string_view detail, const rule::Problems& problems);
// 422, 412, 404 or 503.
AdminReply Refusal(const Refused& refused);
// 409: rules are read from files, and not changed here.
AdminReply KeptInFiles(const AdminParts& parts);
// 428.
AdminReply PreconditionMissing();

// The revision as an ETag, in the header.
void AddTag(catalog::Revision revision, AdminReply& reply);

// "2026-01-31T12:00:00Z" (RFC 3339).
std::string TimeText(std::chrono::sys_time<std::chrono::microseconds> time);

// A parameter of the query that is a number. The default if it is not there; an error if it is not
// from `least` to `most`.
Result<std::int64_t> CountIn(const AdminCall& call, std::string_view name, std::int64_t least,
                             std::int64_t most, std::int64_t otherwise);
// "true" or "false".
Result<bool> FlagIn(const AdminCall& call, std::string_view name);

}  // namespace weir
