// How algorithms phrase their decisions.
#pragma once

#include <cstdint>

#include "base/time.h"
#include "weir/decision.h"

namespace weir::algorithm {

struct Level {
  std::uint64_t remaining;  // permits
  std::uint64_t reset_ns;
};

constexpr Decision Allow(Level level, std::uint64_t wait_ns = 0, Grace grace = Grace::kNone) {
  return {.verdict = Verdict::kAllow,
          .grace = grace,
          .remaining = Permits{level.remaining},
          .wait = ToDuration(wait_ns),
          .reset_after = ToDuration(level.reset_ns)};
}

constexpr Decision Deny(Level level, std::uint64_t retry_ns) {
  return {.verdict = Verdict::kDeny,
          .remaining = Permits{level.remaining},
          .retry_after = ToDuration(retry_ns),
          .reset_after = ToDuration(level.reset_ns)};
}

constexpr Decision Never(Level level) {
  return {.verdict = Verdict::kNever,
          .remaining = Permits{level.remaining},
          .retry_after = Nanos::max(),
          .reset_after = ToDuration(level.reset_ns)};
}

}  // namespace weir::algorithm
