// A token bucket whose limit comes with each request, as redis-cell has it.
//
// The word is the instant at which the bucket is full again, and says so by itself, whatever limit
// it was written under: each request may bring another one, and nothing of it is kept. 0 is a key
// never seen.
//
// Instants are counted in sixteenths of a nanosecond since 2024, which lasts until 2060. The time
// of one permit is rounded up to that, so that a rate is never exceeded: at ten million per second
// the error is one part in 1,600, at 1,000 per second one in 16 million.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/wide_math.h"
#include "weir/decision.h"
#include "weir/result.h"
#include "weir/units.h"

namespace weir::algorithm {

class Cell {
 public:
  // `burst` at once (at least 1), and `count` per `period`. What does not fit the arithmetic is as
  // slow as can be counted, never faster than was asked for.
  static Result<Cell> Of(Permits burst, Permits count, Nanos period);

  // A cost of 0 only looks.
  Decision Admit(std::uint64_t& word, Permits cost, Instant now) const noexcept;

  // Until the word says nothing any more.
  static Nanos ForgottenIn(std::uint64_t word, Instant now) noexcept;

  [[nodiscard]] Permits burst() const { return burst_; }

 private:
  static constexpr std::uint64_t kPerNano = 16;
  static constexpr Nanos kEpoch =
      std::chrono::sys_days(std::chrono::year(2024) / 1 / 1).time_since_epoch();
  // No key owes more than this: so a word lies between now and now and that, and cannot wrap.
  static constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max() / 4;

  // 0 is kept for a key never seen.
  static std::uint64_t TickAt(Instant now) {
    const std::int64_t since = (now.time_since_epoch() - kEpoch).count();
    return since > 0 ? static_cast<std::uint64_t>(since) * kPerNano : 1;
  }

  static Nanos RoundUp(std::uint64_t ticks) {
    return Nanos(static_cast<std::int64_t>(ticks / kPerNano + (ticks % kPerNano != 0 ? 1 : 0)));
  }

  Cell(Permits burst, std::uint64_t interval, std::uint64_t capacity)
      : burst_(burst), interval_(interval), capacity_(capacity) {}

  Permits burst_;
  std::uint64_t interval_;  // of one permit
  std::uint64_t capacity_;  // of the burst
};

inline Decision Cell::Admit(std::uint64_t& word, Permits cost, Instant now) const noexcept {
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

inline Nanos Cell::ForgottenIn(std::uint64_t word, Instant now) noexcept {
  const std::uint64_t tick = TickAt(now);
  return word > tick ? RoundUp(word - tick) : Nanos(0);
}

}  // namespace weir::algorithm
