// The answer to one request: a complete value. Headers, metrics and every wire format are made from
// it, never from a second look at a state that has moved on.
#pragma once

#include <cstdint>

#include "weir/units.h"

namespace weir {

enum class Verdict : std::uint8_t {
  kAllow,  // go ahead, after `wait` if that is not zero
  kDeny,   // not now; `retry_after` says when
  kNever,  // costs more than the limit can ever hold: no waiting helps
};

// Why a request went through although it stood above its limit.
enum class Grace : std::uint8_t {
  kNone,     // it stood within its limit, or it did not go through
  kSoft,     // within the percentage that a soft limit lets through
  kElastic,  // above the limit while the load signal said there was room
};

struct Decision {
  Verdict verdict = Verdict::kAllow;
  Grace grace = Grace::kNone;
  // Which of several limits decided: on a refusal the one that refuses the longest, otherwise the
  // one with the fewest permits left. Counts from 0 in the order they were given.
  std::uint16_t limit_index = 0;
  // What can be taken right after this decision without waiting.
  Permits remaining{};
  // A reservation or a shaped request acts this long from now. Zero for everybody else.
  Nanos wait{0};
  // Exact for a refusal: a retry then succeeds (if nobody else took meanwhile) and one nanosecond
  // earlier it does not. Zero if allowed, Nanos::max() if never.
  Nanos retry_after{0};
  // Until nothing of what was used is remembered any more.
  Nanos reset_after{0};

  [[nodiscard]] constexpr bool allowed() const noexcept { return verdict == Verdict::kAllow; }
  constexpr explicit operator bool() const noexcept { return allowed(); }
  bool operator==(const Decision&) const = default;
};

}  // namespace weir
