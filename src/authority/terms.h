// A limit as an authority counts it: whole numbers that a script in Redis computes with as well.
//
// Scripts know only doubles, which are whole up to 2^53, and their clock counts microseconds. So a
// quota of n permits per p microseconds is reduced to N / P, what is used is counted in ticks, a
// permit takes P of them and N flow back each microsecond:
//
//     3 per second   ->  N / P = 3 / 1'000'000,  1 us = 3 ticks,  1 permit = 1'000'000 ticks
//     100'000 / 1 s  ->  N / P = 1 / 10
//
// Where all that can be used, owed, reserved and asked for would not fit 2^52 ticks, they are made
// coarser and a permit is rounded up: against the caller, never for it.
#pragma once

#include <chrono>
#include <cstdint>

#include "weir/limit.h"
#include "weir/result.h"

namespace weir::authority {

using Micros = std::chrono::microseconds;

// How much above its burst a limit may be seen to let through, for the sake of speed.
struct Tolerance {
  double over_burst = 0.05;  // of the burst; 0 to 1
};

struct Terms {
  static constexpr std::uint64_t kMostTicks = std::uint64_t{1} << 52;
  static constexpr std::uint64_t kMostPermits = 1'000'000'000;  // a burst
  static constexpr Micros kShortestInterval{10'000};
  static constexpr Micros kLongestInterval{100'000};

  std::uint64_t ticks_per_micro = 1;   // N
  std::uint64_t ticks_per_permit = 1;  // P
  std::uint64_t burst = 1;             // permits
  std::uint64_t presale = 0;           // permits that may be sold before they are there: E <= this
  std::uint64_t max_debt = 1;          // permits that can be owed; what goes beyond is forgiven
  Micros interval{};                   // between two exchanges of a busy key (T)
  Micros horizon{};                    // what is sold ahead is paced over this (H)
  Micros epoch{};                      // how long reservations and demand are remembered

  [[nodiscard]] std::uint64_t capacity() const { return burst * ticks_per_permit; }
  // Permits that flow back in `time`, rounded down. REQUIRES: time is at most a minute.
  [[nodiscard]] std::uint64_t PermitsIn(Micros time) const {
    return static_cast<std::uint64_t>(time.count()) * ticks_per_micro / ticks_per_permit;
  }

  bool operator==(const Terms&) const = default;

  // Fails with what is wrong with the quota, if it is too fine or too large to be counted so.
  static Result<Terms> Of(const Quota& quota, Tolerance tolerance = {});
};

}  // namespace weir::authority
