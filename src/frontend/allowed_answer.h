// The answer that most requests get: they pass, and are told what is left.
//
// All of it is made in one place, and appended at once. Where anything is not as usual, it is made
// as every other answer is (wire/http_reply.h); the bytes are the same.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "service/checker.h"

namespace weir {

// In the fields of the newest draft, to a request of HTTP/1.1 after which others may follow. False
// if it is not that easy, and nothing was appended. `rules`: as for AddFields(). `date`: of
// wire/http_date.h. REQUIRES: the request passes
bool AppendAllowed(const CheckReply& reply, std::uint64_t rules, std::string_view date,
                   std::string& out);

}  // namespace weir
