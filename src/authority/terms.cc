#include "authority/terms.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "algorithm/rate.h"
#include "base/wide_math.h"

namespace weir::authority {
namespace {

constexpr Micros kShortEpoch{250'000};
constexpr Micros kLongEpoch{60'000'000};
// An exchange is worth its while if it moves this many permits.
constexpr std::uint64_t kWorthwhile = 2;

Micros TimeFor(std::uint64_t ticks, const Terms& terms) {
  return Micros(static_cast<std::int64_t>(ticks / terms.ticks_per_micro));
}

}  // namespace

Result<Terms> Terms::Of(const Quota& quota, Tolerance tolerance) {
  if (auto wrong = algorithm::WhatIsWrongWith(quota); !wrong.empty()) {
    return Error{std::move(wrong)};
  }
  const std::uint64_t burst = quota.burst().count;
  if (burst == 0 || burst > kMostPermits) {
    return Error{"the burst of a limit that a cluster shares must be from 1 to " +
                 std::to_string(kMostPermits) + ", got " + std::to_string(burst)};
  }
  if (!(tolerance.over_burst >= 0 && tolerance.over_burst <= 1)) {
    return Error{"the tolerated over-burst must be from 0 to 1 of the burst, got " +
                 std::to_string(tolerance.over_burst)};
  }
  Terms terms;
  terms.burst = burst;
  terms.max_debt = 4 * burst;
  terms.presale =
      static_cast<std::uint64_t>(std::floor(tolerance.over_burst * static_cast<double>(burst)));

  // n permits in p ns are 1000 n permits in p us.
  const Uint128 n = Mul(quota.permits().count, 1000);
  const auto p = static_cast<std::uint64_t>(quota.period().count());
  // Used and owed, five times; reserved and sold ahead, twice; asked for on top of that.
  const std::uint64_t most = 8 * burst;
  const std::uint64_t divisor = std::gcd(static_cast<std::uint64_t>(n % p), p);
  Uint128 per_micro = n / divisor;
  Uint128 per_permit = p / divisor;
  while (per_permit * most > kMostTicks || per_micro > kMostTicks) {
    if (per_micro == 1) {
      return Error{std::to_string(burst) + " permits at " + std::to_string(quota.permits().count) +
                   "/" + std::to_string(p) +
                   "ns take too long to refill for a limit that a cluster shares: lower the burst "
                   "or raise the rate"};
    }
    const Uint128 coarser = per_micro / 2;
    per_permit = CeilDiv(per_permit * coarser, per_micro);
    per_micro = coarser;
  }
  terms.ticks_per_micro = static_cast<std::uint64_t>(per_micro);
  terms.ticks_per_permit = static_cast<std::uint64_t>(per_permit);

  // What is sold ahead is what flows back in `horizon`, unless that is longer than hosts should go
  // without a word.
  const Micros ahead = TimeFor(terms.presale * terms.ticks_per_permit, terms);
  terms.horizon = terms.presale == 0
                      ? kLongestInterval * 3 / 2
                      : std::clamp(ahead, kShortestInterval * 3 / 2, kLongestInterval * 3 / 2);
  terms.interval = terms.horizon * 2 / 3;
  const bool is_hot = terms.PermitsIn(terms.interval) >= kWorthwhile;
  terms.presale = std::min(terms.presale, terms.PermitsIn(terms.horizon));
  terms.epoch =
      is_hot ? kShortEpoch : std::clamp(TimeFor(terms.capacity(), terms), kShortEpoch, kLongEpoch);
  return terms;
}

}  // namespace weir::authority
