#include "algorithm/cell.h"

#include <algorithm>
#include <limits>

#include "base/wide_math.h"

namespace weir::algorithm {
namespace {

constexpr std::uint64_t kPerNano = 16;
constexpr Nanos kEpoch = std::chrono::sys_days(std::chrono::year(2024) / 1 / 1).time_since_epoch();
// No key owes more than this: so a word lies between now and now and that, and cannot wrap.
constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max() / 4;

// 0 is kept for a key never seen.
std::uint64_t TickAt(Instant now) {
  const std::int64_t since = (now.time_since_epoch() - kEpoch).count();
  return since > 0 ? static_cast<std::uint64_t>(since) * kPerNano : 1;
}

Nanos RoundUp(std::uint64_t ticks) {
  return Nanos(static_cast<std::int64_t>(ticks / kPerNano + (ticks % kPerNano != 0 ? 1 : 0)));
}

}  // namespace

Result<Cell> Cell::Of(Permits burst, Permits count, Nanos period) {
  if (burst.count < 1) return Error{"the burst must be at least 1"};
  if (count.count < 1) return Error{"the count must be at least 1"};
  if (period < Nanos(1)) return Error{"the period must be longer than 0"};
  const Uint128 ticks = Uint128{static_cast<std::uint64_t>(period.count())} * kPerNano;
  // Of 64 bits where that is enough: a division of 128 is a call.
  const Uint128 interval = ticks <= kMaxUint64
                               ? CeilDiv(static_cast<std::uint64_t>(ticks), count.count)
                               : CeilDiv(ticks, Uint128{count.count});
  if (interval > kMost) return Error{"one permit takes longer than can be counted"};
  const auto capacity =
      static_cast<std::uint64_t>(std::min<Uint128>(interval * burst.count, kMost));
  return Cell(burst, static_cast<std::uint64_t>(interval), capacity);
}

Decision Cell::Admit(std::uint64_t& word, Permits cost, Instant now) const noexcept {
  const std::uint64_t tick = TickAt(now);
  const std::uint64_t used = word > tick ? std::min(word - tick, kMost) : 0;
  const Uint128 after = used + Uint128{cost.count} * interval_;
  Decision decision;
  std::uint64_t left = used;
  if (after <= capacity_) {
    left = static_cast<std::uint64_t>(after);
    if (cost.count > 0) word = tick + left;
  } else if (cost.count > burst_.count) {
    decision.verdict = Verdict::kNever;
    decision.retry_after = Nanos::max();
  } else {
    decision.verdict = Verdict::kDeny;
    decision.retry_after = RoundUp(static_cast<std::uint64_t>(after - capacity_));
  }
  decision.remaining = Permits{left < capacity_ ? (capacity_ - left) / interval_ : 0};
  decision.reset_after = RoundUp(left);
  return decision;
}

Nanos Cell::ForgottenIn(std::uint64_t word, Instant now) noexcept {
  const std::uint64_t tick = TickAt(now);
  return word > tick ? RoundUp(word - tick) : Nanos(0);
}

}  // namespace weir::algorithm
