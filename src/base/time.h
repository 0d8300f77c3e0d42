// Instants and durations as the unsigned nanoseconds the algorithms compute with.
#pragma once

#include <cstdint>
#include <limits>

#include "weir/units.h"

namespace weir {

// Nanoseconds since the epoch. Instants before it, which no clock shows, count as the epoch.
constexpr std::uint64_t ToNanos(Instant instant) {
  const auto ns = instant.time_since_epoch().count();
  return ns > 0 ? static_cast<std::uint64_t>(ns) : 0;
}
constexpr Instant ToInstant(std::uint64_t ns) {
  // A negative number is one that was too large.
  const auto count = static_cast<std::int64_t>(ns);
  return Instant(Nanos(count >= 0 ? count : std::numeric_limits<std::int64_t>::max()));
}

// A duration as a caller sees it; what is longer than 292 years is 292 years.
constexpr Nanos ToDuration(std::uint64_t ns) { return ToInstant(ns).time_since_epoch(); }

// `instant + delay`, at most the last instant there is.
constexpr Instant Later(Instant instant, Nanos delay) {
  return instant > Instant::max() - delay ? Instant::max() : instant + delay;
}
constexpr Nanos SatAdd(Nanos a, Nanos b) { return a > Nanos::max() - b ? Nanos::max() : a + b; }

}  // namespace weir
