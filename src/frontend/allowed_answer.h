// The answer that most requests get: they pass, and are told what is left.
//
// All of it is made in one place. Where anything is not as usual, it is made as every other answer
// is (wire/http_reply.h); the bytes are the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "frontend/rate_limit_fields.h"
#include "service/checker.h"

namespace weir {

// Bytes of such an answer, at most.
inline constexpr std::size_t kRoomForAllowed = kRoomForFewDraft10 + 256;

// In the fields of the newest draft, to a request of HTTP/1.1 after which others may follow.
// Returns where it ends; null if it is not that easy. `rules`: as for AddFields(). `date`: of
// wire/http_date.h. REQUIRES: the request passes; room for kRoomForAllowed
char* PutAllowed(const CheckReply& reply, std::uint64_t rules, std::string_view date, char* to);

}  // namespace weir
