// The units of everything Weir says: permits, durations and instants.
//
// A bare number never crosses an interface: `Permits` counts what a request costs, `Nanos` is how
// long, `Instant` is when. Instants count nanoseconds since the Unix epoch, so that windows can be
// aligned to it, but they come from a clock that never goes back (see Clock).
#pragma once

#include <chrono>
#include <compare>
#include <cstdint>

namespace weir {

using Nanos = std::chrono::nanoseconds;

// How much a request costs, or how much is left. Never negative: giving back has a verb of its own.
struct Permits {
  std::uint64_t count = 0;

  constexpr Permits() = default;
  constexpr explicit Permits(std::uint64_t n) : count(n) {}
  constexpr auto operator<=>(const Permits&) const = default;
};

// A clock that agrees with the wall clock when the machine boots this library and from then on only
// moves forward, at the same pace in every process of the host. Setting the wall clock does not
// move it, so nobody gains permits or is locked out by an administrator with a `date` command.
class Clock {
 public:
  using duration = Nanos;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<Clock>;
  static constexpr bool is_steady = true;

  static time_point now() noexcept;
};

using Instant = Clock::time_point;

}  // namespace weir
