// Token bucket and leaky bucket: the generic cell rate algorithm, as one number.
// docs/algorithms/token_bucket.md, docs/algorithms/leaky_bucket.md
//
// The state of a key is `full_at`, the tick at which its bucket is full again. What is missing from
// the bucket is the distance from now to there, and nothing at all once it has passed:
//
//          now          full_at                       taking a permit moves full_at one
//     ------+--------------+-----------> ticks        interval to the right; the bucket is
//           |<-- used ---->|                          empty when `used` reaches the capacity
//
// A key never seen and a key long idle are therefore the same key, and forgetting an old one
// changes no answer. The word 0 stands for "never seen".
//
// A leaky bucket is the same number read the other way: `used` is what has yet to flow out. What
// goes above `free` is let in but has to wait until it is its turn.
//
// Ticks wrap (algorithm/rate.h): a distance is live if it is at most `capacity + debt`, everything
// else lies in the past. Thread safety: nothing here is shared. The caller makes the
// read-decide-write of the word atomic.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "algorithm/answer.h"
#include "algorithm/rate.h"
#include "base/time.h"
#include "base/wide_math.h"
#include "weir/limit.h"

namespace weir::algorithm {

class Bucket {
 public:
  static constexpr std::size_t kWords = 1;
  // Not the state of any bucket: whoever keeps the word may use it to say that the state is not here.
  static constexpr std::uint64_t kElsewhere = ~std::uint64_t{0};

  static Result<Bucket> Make(const weir::TokenBucket& limit, std::uint32_t soft_percent);
  static Result<Bucket> Make(const weir::LeakyBucket& limit, std::uint32_t soft_percent);

  // The word of a key that is known from `now` on but has not asked for anything yet.
  [[nodiscard]] std::uint64_t Start(Instant now) const noexcept {
    return missing_ == 0 ? 0 : Word(missing_, TickAt(now));
  }

  // Takes `cost` permits at `now` if they are there. A refusal leaves the word alone, except that a
  // bucket that does not start full has to note when it started.
  [[nodiscard]] Decision Admit(std::uint64_t& word, Permits cost, Instant now) const noexcept {
    const std::uint64_t tick = TickAt(now);
    const std::uint64_t used = Used(word, tick);
    if (cost > most_) [[unlikely]] {
      return Never(LevelOf(used));
    }
    if (cost.count == 0) [[unlikely]] {
      return Allow(LevelOf(used));
    }
    const std::uint64_t after = used + cost.count * interval_;
    if (after > capacity_) {
      if (word == 0) word = Start(now);
      return Deny(LevelOf(used), NanosFor(after - capacity_));
    }
    word = Word(after, tick);
    return Allow(LevelOf(after), after > free_ ? NanosFor(after - free_) : 0,
                 after > nominal_ ? Grace::kSoft : Grace::kNone);
  }

  // Takes `cost` permits whether they are there or not: the bucket goes into debt.
  Decision Charge(std::uint64_t& word, Permits cost, Instant now) const noexcept {
    const std::uint64_t tick = TickAt(now);
    const std::uint64_t after = SatAdd(Used(word, tick), TicksFor(cost));
    word = Word(after, tick);
    return Allow(LevelOf(std::min(after, live_)));
  }

  // Gives back `cost` permits, up to a full bucket.
  void Refund(std::uint64_t& word, Permits cost, Instant now) const noexcept {
    const std::uint64_t tick = TickAt(now);
    word = Word(SatSub(Used(word, tick), TicksFor(cost)), tick);
  }

  // What was used stays used: as many permits are missing from this bucket as were from `old`.
  [[nodiscard]] std::uint64_t Carry(const Bucket& old, std::uint64_t word,
                                    Instant now) const noexcept {
    if (word == 0) return 0;
    const std::uint64_t used = old.Used(word, old.TickAt(now));
    return Word(Saturate(CeilDiv(Mul(used, interval_), Uint128{old.interval_})), TickAt(now));
  }

  // Until nothing of the word is remembered any more.
  [[nodiscard]] std::uint64_t ForgottenIn(std::uint64_t word, Instant now) const noexcept {
    return NanosFor(Used(word, TickAt(now)));
  }
  // The longest that a key without debt is remembered.
  [[nodiscard]] std::uint64_t Memory() const noexcept { return NanosFor(capacity_); }

 private:
  // All in permits.
  struct Shape {
    std::uint64_t nominal;   // the limit as stated
    std::uint64_t capacity;  // and with what a soft limit lets through above it
    std::uint64_t missing;   // from the bucket of a key never seen
    std::uint64_t free;      // what is in the bucket above this has to wait
  };
  static Result<Bucket> Make(const Quota& quota, Shape shape);
  Bucket(Rate rate, Shape shape);

  [[nodiscard]] std::uint64_t TickAt(Instant now) const noexcept {
    return ToNanos(now) * ticks_per_nano_;
  }

  // How many ticks are missing from the bucket; more than the capacity is debt.
  [[nodiscard]] std::uint64_t Used(std::uint64_t word, std::uint64_t tick) const noexcept {
    if (word == 0) return missing_;
    const std::uint64_t used = word - tick;
    return used <= live_ ? used : 0;
  }

  // The word of a bucket with `used` ticks missing; debt saturates. Two words are spoken for, 0
  // ("never seen") and kElsewhere: instead of them, a full bucket was full a little earlier and
  // any other will be full a little later.
  [[nodiscard]] std::uint64_t Word(std::uint64_t used, std::uint64_t tick) const noexcept {
    const std::uint64_t word = tick + std::min(used, live_);
    if (word + 1 > 1) [[likely]] {
      return word;
    }
    return used == 0 ? tick - 2 : 1;
  }

  [[nodiscard]] std::uint64_t TicksFor(Permits cost) const noexcept {
    return Saturate(Mul(cost.count, interval_));
  }

  // Time passes in whole nanoseconds, so what is needed is rounded up.
  [[nodiscard]] std::uint64_t NanosFor(std::uint64_t ticks) const noexcept {
    return ticks_per_nano_ == 1 ? ticks : CeilDiv(ticks, ticks_per_nano_);
  }

  [[nodiscard]] Level LevelOf(std::uint64_t used) const noexcept {
    return {.remaining = used < nominal_ ? (nominal_ - used) / interval_ : 0,
            .reset_ns = NanosFor(used)};
  }

  // All in ticks, except for `most_`.
  std::uint64_t ticks_per_nano_;
  std::uint64_t interval_;  // of one permit
  std::uint64_t nominal_;
  std::uint64_t capacity_;
  std::uint64_t missing_;
  std::uint64_t free_;
  std::uint64_t live_;  // the most that can be missing, debt included
  Permits most_;        // what can ever be taken at once
};

}  // namespace weir::algorithm
