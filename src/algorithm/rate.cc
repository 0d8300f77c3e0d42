#include "algorithm/rate.h"

#include <bit>
#include <numeric>

#include "base/wide_math.h"

namespace weir::algorithm {

std::string WhatIsWrongWith(const Quota& quota) {
  const auto permits = quota.permits().count;
  const auto period = quota.period().count();
  if (permits == 0) return "the rate must be at least 1 permit per period, got 0";
  if (period <= 0) {
    return "the period must be longer than 0, got " + std::to_string(period) + "ns";
  }
  if (permits > static_cast<std::uint64_t>(period)) {
    return "the rate must be at most 1 permit per nanosecond (1000000000/1s), got " +
           std::to_string(permits) + "/" + std::to_string(period) + "ns";
  }
  return {};
}

Result<Rate> Rate::Of(const Quota& quota, Permits most) {
  if (auto wrong = WhatIsWrongWith(quota); !wrong.empty()) return Error{std::move(wrong)};
  const std::uint64_t n = quota.permits().count;
  const auto p = static_cast<std::uint64_t>(quota.period().count());
  const auto fits = [&](std::uint64_t interval) { return Mul(interval, most.count) <= kMaxSpan; };

  const std::uint64_t divisor = std::gcd(n, p);
  const Rate exact{n / divisor, p / divisor};
  if (exact.ticks_per_nano <= kMaxTicksPerNano && fits(exact.ticks_per_permit)) return exact;

  for (std::uint64_t ticks = std::bit_floor(kMaxTicksPerNano); ticks > 0; ticks /= 2) {
    const std::uint64_t rounded_up = Saturate(CeilDiv(Mul(p, ticks), Uint128{n}));
    if (fits(rounded_up)) return Rate{ticks, rounded_up};
  }
  return Error{std::to_string(most.count) + " permits at " + std::to_string(n) + "/" +
               std::to_string(p) +
               "ns take longer than 146 years to refill: lower the burst or raise the rate"};
}

}  // namespace weir::algorithm
