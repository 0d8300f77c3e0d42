// Refusals and mistakes as RFC 9457 has them: application/problem+json.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "service/checker.h"

namespace weir {

// Text in quotes, as JSON has it. What is not UTF-8 becomes '?'.
void AppendJsonString(std::string_view text, std::string& out);

// A mistake of the caller's, or a failure of ours.
std::string ProblemDetails(std::uint16_t status, std::string_view detail);

// A refusal by the finding that decides: what kind, by which policy, in the rule's own words.
std::string RefusalDetails(const Finding& decisive);

}  // namespace weir
