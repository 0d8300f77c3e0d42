// What envoyproxy/ratelimit answers over HTTP, for who cannot speak gRPC, or wants to look:
//
//   POST /json          ShouldRateLimit in JSON: 200, 429 if over the limit, 400
//   GET /rlconfig       the limits in force, a line each
//   GET /healthcheck    "OK", or 500
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "frontend/should_rate_limit.h"
#include "service/checker.h"

namespace weir {

struct RateLimitPage {
  std::uint16_t status = 200;
  std::string_view content_type = "text/plain; charset=utf-8";
  std::string body = {};
  bool waits = false;  // for a cluster, and is nothing yet
};

// `body` is a RateLimitRequest in the JSON of protobuf, and so is the answer a RateLimitResponse.
// If that waits, ask the same again with the same reply when its waiter is told.
RateLimitPage AnswerRateLimitJson(Checker& checker, const RateLimitOptions& options,
                                  std::string_view body, Instant now, DescriptorReply& reply);

// The rules that have descriptors, in their order.
RateLimitPage RateLimitConfig(const rule::Rulebook& book);

RateLimitPage RateLimitHealth(bool ready);

}  // namespace weir
