// What a limit says of itself to clients: so many in so long, and when there is more.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include "weir/decision.h"
#include "weir/limit.h"
#include "weir/units.h"

namespace weir {

struct Policy {
  Permits quota;
  Nanos window;
};

// Of a limit with one part, or of its first. Months and years of a calendar count as 30 and 365
// days.
Policy PolicyOf(const Limit& limit);

// The same as RateLimit-Policy has it behind the name: ";q=100;w=60".
std::string PolicyText(const Limit& limit);

namespace internal {

// Whether a duration is one of these, rounded up: most that are told are, and need no division.
constexpr bool IsUpTo(Nanos one, Nanos duration) {
  return static_cast<std::uint64_t>(duration.count()) - 1 < static_cast<std::uint64_t>(one.count());
}

}  // namespace internal

// Whole seconds, rounded up: who retries when told to is never too early.
constexpr std::int64_t SecondsUp(Nanos duration) {
  if (internal::IsUpTo(std::chrono::seconds(1), duration)) return 1;
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(duration);
  return whole.count() + (Nanos(whole) < duration ? 1 : 0);
}

// Whole milliseconds, rounded up likewise. Nanos::max(): -1, for "never".
constexpr std::int64_t MillisUp(Nanos duration) {
  if (internal::IsUpTo(std::chrono::milliseconds(1), duration)) return 1;
  if (duration == Nanos::max()) return -1;
  return std::chrono::ceil<std::chrono::milliseconds>(duration).count();
}

// Structured fields of HTTP hold numbers of up to 15 digits.
constexpr std::uint64_t FittingField(Permits permits) {
  return std::min<std::uint64_t>(permits.count, 999'999'999'999'999);
}

// After a refusal, when to retry; otherwise, when all of it is back. Nanos::max(): never.
constexpr Nanos UntilMore(const Decision& decision) {
  return decision.allowed() ? decision.reset_after : decision.retry_after;
}

}  // namespace weir
