// A host's picture of the authority's bucket, for those who decide by it (write_back): what it was
// when last told, what flowed in since, and what this host took meanwhile.
#pragma once

#include <algorithm>
#include <cstdint>

#include "authority/terms.h"
#include "base/wide_math.h"
#include "weir/units.h"

namespace weir::authority {

class BucketView {
 public:
  // Takes `permits` if they seem to be there.
  bool Take(const Terms& terms, std::uint64_t permits, Instant now) {
    Pass(terms, now);
    if (missing_ + permits * terms.ticks_per_permit > terms.capacity()) return false;
    missing_ += permits * terms.ticks_per_permit;
    return true;
  }

  // What was taken is there again.
  void Undo(const Terms& terms, std::uint64_t permits) {
    missing_ = SatSub(missing_, permits * terms.ticks_per_permit);
  }

  // What is missing was counted in other ticks.
  void Convert(std::uint64_t per_permit, std::uint64_t new_per_permit) {
    missing_ = Saturate(CeilDiv(Mul(missing_, new_per_permit), Uint128{per_permit}));
  }

  // They are gone, whether they seem to be there or not.
  void Owe(const Terms& terms, std::uint64_t permits, Instant now) {
    Pass(terms, now);
    missing_ += permits * terms.ticks_per_permit;
  }

  // Until they seem to be there.
  Nanos WaitFor(const Terms& terms, std::uint64_t permits, Instant now) {
    Pass(terms, now);
    const std::uint64_t over =
        SatSub(missing_ + permits * terms.ticks_per_permit, terms.capacity());
    return Nanos(static_cast<std::int64_t>(CeilDiv(over * 1000, terms.ticks_per_micro)));
  }

  // Permits that seem to be there.
  std::uint64_t Left(const Terms& terms, Instant now) {
    Pass(terms, now);
    return SatSub(terms.capacity(), missing_) / terms.ticks_per_permit;
  }

  // The bucket holds `tokens` at `now`, of which this host took `untold` since it said so.
  void Learn(const Terms& terms, std::int64_t tokens, std::uint64_t untold, Instant now) {
    const auto burst = static_cast<std::int64_t>(terms.burst);
    const auto gone = static_cast<std::uint64_t>(std::max<std::int64_t>(0, burst - tokens));
    missing_ = (gone + untold) * terms.ticks_per_permit;
    at_ = now;
  }

 private:
  void Pass(const Terms& terms, Instant now) {
    const auto micros = std::chrono::floor<Micros>(now - at_).count();
    if (micros <= 0) return;
    missing_ =
        SatSub(missing_, Saturate(Mul(static_cast<std::uint64_t>(micros), terms.ticks_per_micro)));
    at_ += Micros(micros);
  }

  std::uint64_t missing_ = 0;  // ticks
  Instant at_{};
};

}  // namespace weir::authority
