// A rate in whole numbers: how time is counted so that no permit is ever rounded.
//
// A quota of n permits per p nanoseconds is reduced by its greatest common divisor to N / P. Time
// is then counted in ticks of 1/N nanosecond, in which a permit takes exactly P ticks:
//
//     3 per second  ->  N / P = 3 / 1'000'000'000,  1 ns = 3 ticks,  1 permit = 10^9 ticks
//
// Ticks live on a ring of 2^64 (they wrap, on purpose), so N may not be too large, or the ring
// would come round while a key is idle. Up to kMaxTicksPerNano it takes at least a year. Above
// that, ticks are the finest power of two that fits and the interval is rounded up: against the
// caller, never for it. `burst` permits must fit a quarter of the ring; a coarser tick is taken
// until they do.
#pragma once

#include <algorithm>
#include <cstdint>

#include "weir/limit.h"
#include "weir/result.h"

namespace weir::algorithm {

struct Rate {
  static constexpr std::uint64_t kMaxTicksPerNano = 584;  // 2^64 / 584 ns is one year
  static constexpr std::uint64_t kMaxSpan = std::uint64_t{1} << 62;

  std::uint64_t ticks_per_nano;
  std::uint64_t ticks_per_permit;

  // How far ahead of now states may lie, in ticks, and still be told from the past: 36 years at one
  // tick per nanosecond. Where the ring is shorter it is less, a day or 32 permits, so that a key
  // that idles until the ring has come round is taken for one that owes no more than that.
  [[nodiscard]] constexpr std::uint64_t Horizon() const {
    constexpr std::uint64_t kLeast = std::uint64_t{1} << 56;
    constexpr std::uint64_t kMost = std::uint64_t{1} << 60;
    const std::uint64_t permits = ticks_per_permit < kMost / 32 ? 32 * ticks_per_permit : kMost;
    return std::max({kLeast, kMost / ticks_per_nano, permits});
  }

  // Fails with what is wrong with the quota, or if `most` permits take too long to count.
  static Result<Rate> Of(const Quota& quota, Permits most);
};

// What every quota must satisfy, whatever algorithm it is for.
// Returns an empty message if it does.
std::string WhatIsWrongWith(const Quota& quota);

}  // namespace weir::algorithm
