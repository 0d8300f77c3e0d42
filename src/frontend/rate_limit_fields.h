// What a decision says in the header fields of HTTP: the one place that rounds.
//
// The standard is still moving (draft-ietf-httpapi-ratelimit-headers), and clients of its older
// forms are everywhere. So the forms are a table with a version each, and who runs the server picks
// one. Seconds are rounded up: who retries when told to is never too early.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/text_row.h"
#include "service/checker.h"
#include "service/policy.h"

namespace weir {

enum class FieldStyle : std::uint8_t {
  kDraft10,     // RateLimit: "api";r=3;t=7     RateLimit-Policy: "api";q=10;w=60
  kDraft06,     // RateLimit-Limit: 10     RateLimit-Remaining: 3     RateLimit-Reset: 7
  kXRateLimit,  // the same three, as X-RateLimit-...
  kNone,
};

// "draft-10", "draft-06", "x-ratelimit", "none".
std::optional<FieldStyle> FieldStyleOf(std::string_view name);

// Adds the fields of an answer, each ended by CR LF; of a refusal also Retry-After, if waiting
// helps. `rules`: the serial number of the namespace (rule::Space) that it was made by; 0: none.
void AddFields(const CheckReply& reply, std::uint64_t rules, FieldStyle style, TextRow& row);

// The fields of kDraft10, written where there is room for so much, if they are of a few limits, all
// enforced, whose texts are known: most of the time. Returns where they end; null if it is not so.
inline constexpr std::size_t kRoomForFewDraft10 = 840;
char* PutFewDraft10(const CheckReply& reply, std::uint64_t rules, char* to);

// How many a limit lets through in its period. REQUIRES: a single limit
Permits QuotaOf(const Limit& limit);

}  // namespace weir
