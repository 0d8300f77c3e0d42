// A bucket that a host keeps beside the authority's, for the time when that is out of reach.
//
// It is as large as the host's last known share of the limit and is told of every request that the
// host admits, by whatever way: at the moment of failure it is as full as it should be, and all
// hosts together admit what the limit says.
#pragma once

#include <algorithm>
#include <cstdint>

#include "authority/terms.h"
#include "base/wide_math.h"
#include "weir/units.h"

namespace weir::authority {

class WarmBucket {
 public:
  static constexpr std::uint64_t kWhole = 1'000'000;  // shares are in millionths

  // What was admitted counts whether there was room for it or not, up to a full bucket.
  void Note(const Terms& terms, std::uint64_t share, std::uint64_t permits, Instant now) {
    Pass(terms, share, now);
    used_ = std::min(used_ + permits * terms.ticks_per_permit, Capacity(terms, share));
  }

  // What was noted has not happened, after all.
  void Undo(const Terms& terms, std::uint64_t permits) {
    used_ = SatSub(used_, permits * terms.ticks_per_permit);
  }

  // What was used was counted in other ticks.
  void Convert(std::uint64_t per_permit, std::uint64_t new_per_permit) {
    used_ = Saturate(CeilDiv(Mul(used_, new_per_permit), Uint128{per_permit}));
  }

  // Whether there is room for `permits`; takes nothing.
  bool HasRoom(const Terms& terms, std::uint64_t share, std::uint64_t permits, Instant now) {
    Pass(terms, share, now);
    return used_ + permits * terms.ticks_per_permit <= Capacity(terms, share);
  }

  // Until there is.
  Nanos WaitFor(const Terms& terms, std::uint64_t share, std::uint64_t permits, Instant now) {
    Pass(terms, share, now);
    const std::uint64_t over =
        SatSub(used_ + permits * terms.ticks_per_permit, Capacity(terms, share));
    const Uint128 ns = CeilDiv(Mul(over, 1000) * kWhole, Mul(terms.ticks_per_micro, Least(share)));
    return Nanos(static_cast<std::int64_t>(std::min<Uint128>(ns, INT64_MAX)));
  }

  // What this host still owes for what it admitted, in permits rounded up.
  std::uint64_t Owed(const Terms& terms, std::uint64_t share, Instant now) {
    Pass(terms, share, now);
    return CeilDiv(used_, terms.ticks_per_permit);
  }

 private:
  static std::uint64_t Least(std::uint64_t share) { return std::max<std::uint64_t>(1, share); }
  // At least one permit, or a host with a small share would admit nothing ever.
  static std::uint64_t Capacity(const Terms& terms, std::uint64_t share) {
    return std::max(terms.ticks_per_permit, Saturate(Mul(terms.capacity(), share) / kWhole));
  }

  void Pass(const Terms& terms, std::uint64_t share, Instant now) {
    if (now <= at_) return;
    const auto passed = static_cast<std::uint64_t>((now - at_).count());
    const Uint128 flowed = Mul(passed, terms.ticks_per_micro) / 1000 * Least(share) / kWhole;
    if (flowed == 0) return;  // too little to count; the time is not lost
    used_ = SatSub(used_, Saturate(flowed));
    at_ = now;
  }

  std::uint64_t used_ = 0;  // ticks
  Instant at_{};
};

}  // namespace weir::authority
