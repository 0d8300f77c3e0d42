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
#include <limits>

#include "algorithm/answer.h"
#include "algorithm/rate.h"
#include "base/branchless.h"
#include "base/time.h"
#include "base/wide_math.h"
#include "weir/limit.h"

namespace weir::algorithm {

class Bucket {
 public:
  static constexpr std::size_t kWords = 1;
  // Not the state of any bucket: whoever keeps the word may use it to say that the state is not
  // here.
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
    return Tell(Try(word, cost, TickAt(now)), cost);
  }

  // The two halves of Admit(): what has to be done to the word, and what there is to say about it.
  // Whoever makes the first half atomic does so without the second in the way.
  struct Trial {
    std::uint64_t used;   // ticks, before
    std::uint64_t after;  // and if it is admitted
  };
  [[nodiscard]] std::uint64_t TickAt(Instant now) const noexcept {
    return ToNanos(now) * ticks_per_nano_;
  }
  [[nodiscard, gnu::always_inline]] Trial Try(std::uint64_t& word, Permits cost,
                                              std::uint64_t tick) const noexcept {
    const std::uint64_t used = Used(word, tick);
    // A cost that is too high is as good as one that is just so; Tell() knows them apart.
    const std::uint64_t after = used + std::min(cost.count, most_.count + 1) * interval_;
    if (after <= capacity_) {
      if (cost.count != 0) word = Word(after, tick);
    } else if (word == 0 && missing_ != 0) {
      word = Word(missing_, tick);
    }
    return {used, after};
  }
  [[nodiscard, gnu::always_inline]] Decision Tell(Trial trial, Permits cost) const noexcept {
    if (cost.count == 0) [[unlikely]] {
      return Allow(LevelOf(trial.used));  // a look waits for nothing, in a queue neither
    }
    if (trial.after <= capacity_) {
      return Allow(LevelOf(trial.after), trial.after > free_ ? NanosFor(trial.after - free_) : 0,
                   trial.after > nominal_ ? Grace::kSoft : Grace::kNone);
    }
    if (cost > most_) return Never(LevelOf(trial.used));
    return Deny(LevelOf(trial.used), NanosFor(trial.after - capacity_));
  }

  [[nodiscard]] bool Admits(Trial trial) const noexcept { return trial.after <= capacity_; }
  // What there is to say if it was only a look: what is there is there still.
  [[nodiscard]] Decision TellLook(Trial trial, Permits cost) const noexcept {
    Decision decision = Tell(trial, cost);
    const Level level = LevelOf(trial.used);
    decision.remaining = Permits{level.remaining};
    decision.reset_after = ToDuration(level.reset_ns);
    return decision;
  }

  // Takes `cost` permits whether they are there or not: the bucket goes into debt.
  Decision Charge(std::uint64_t& word, Permits cost, Instant now) const noexcept {
    const std::uint64_t tick = TickAt(now);
    const std::uint64_t after = std::min(SatAdd(Used(word, tick), TicksFor(cost)), live_);
    word = Word(after, tick);
    return Allow(LevelOf(after));
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
    const std::uint64_t mine = Saturate(CeilDiv(Mul(used, interval_), Uint128{old.interval_}));
    return Word(std::min(mine, live_), TickAt(now));
  }

  // The same, with nothing owed: at most empty.
  [[nodiscard]] std::uint64_t WithoutDebt(std::uint64_t word, Instant now) const noexcept {
    if (word == 0) return 0;
    const std::uint64_t tick = TickAt(now);
    return Word(std::min(Used(word, tick), capacity_), tick);
  }

  // Permits that are missing from the bucket, rounded up; more than it holds if it is in debt.
  [[nodiscard]] std::uint64_t UsedPermits(std::uint64_t word, Instant now) const noexcept {
    return CeilDiv(Used(word, TickAt(now)), interval_);
  }
  // A key never seen has less than the bucket holds.
  [[nodiscard]] bool starts_short() const noexcept { return missing_ != 0; }
  // Until nothing of the word is remembered any more.
  [[nodiscard]] std::uint64_t ForgottenIn(std::uint64_t word, Instant now) const noexcept {
    return NanosFor(Used(word, TickAt(now)));
  }
  // The longest that a key without debt is remembered.
  [[nodiscard]] std::uint64_t Memory() const noexcept { return NanosFor(capacity_); }
  // How far ahead a reservation may lie: as seen from now it is debt, and debt is bounded.
  [[nodiscard]] std::uint64_t Foresight() const noexcept {
    return (live_ - capacity_) / ticks_per_nano_;
  }

  // The same for the most common of buckets, in fewer steps (see PlainBucket below).
  [[nodiscard]] bool is_plain() const noexcept {
    return ticks_per_nano_ == 1 && missing_ == 0 && nominal_ == capacity_ && free_ == capacity_;
  }

 private:
  friend class PlainBucket;

  // All in permits.
  struct Shape {
    std::uint64_t nominal;   // the limit as stated
    std::uint64_t capacity;  // and with what a soft limit lets through above it
    std::uint64_t missing;   // from the bucket of a key never seen
    std::uint64_t free;      // what is in the bucket above this has to wait
  };
  static Result<Bucket> Make(const Quota& quota, Shape shape);
  Bucket(Rate rate, Shape shape);

  // How many ticks are missing from the bucket; more than the capacity is debt.
  [[nodiscard]] std::uint64_t Used(std::uint64_t word, std::uint64_t tick) const noexcept {
    if (word == 0) return missing_;
    const std::uint64_t used = word - tick;
    return ValueIf(used <= live_, used);
  }

  // The word of a bucket with `used` ticks missing, at most `live_`. Two words are spoken for, 0
  // ("never seen") and kElsewhere: instead of them, a full bucket was full a little earlier and
  // any other will be full a little later.
  [[nodiscard]] std::uint64_t Word(std::uint64_t used, std::uint64_t tick) const noexcept {
    const std::uint64_t word = tick + used;
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

// A bucket whose permits take a whole number of nanoseconds, that starts full, lets nobody through
// above its limit and has nobody wait. Nearly all are: 10/s, 5000/h, 100/min. Ticks are nanoseconds
// since the epoch then, which neither wrap nor come near the two words that are spoken for.
//
// Does what Bucket does, to the letter, in fewer steps; a test compares them.
class PlainBucket {
 public:
  using Trial = Bucket::Trial;

  // REQUIRES: bucket.is_plain()
  explicit PlainBucket(const Bucket& bucket) noexcept
      : interval_(bucket.interval_),
        capacity_(bucket.capacity_),
        live_(bucket.live_),
        most_(bucket.most_.count) {}
  // One that no cost fits.
  static PlainBucket Closed() noexcept { return {}; }

  [[nodiscard]] std::uint64_t TickAt(Instant now) const noexcept { return ToNanos(now); }

  [[nodiscard, gnu::always_inline]] Trial Try(std::uint64_t& word, Permits cost,
                                              std::uint64_t tick) const noexcept {
    const Trial trial = TryFitting(word, Permits{std::min(cost.count, most_ + 1)}, tick);
    if (Admits(trial) && cost.count != 0) word = tick + trial.after;
    return trial;
  }
  [[nodiscard]] bool Admits(Trial trial) const noexcept { return trial.after <= capacity_; }

  [[nodiscard, gnu::always_inline]] Decision Tell(Trial trial, Permits cost) const noexcept {
    if (Admits(trial)) return Allowed(trial, trial.after);
    Decision decision = Refused(trial, trial.after - capacity_, trial.used);
    if (cost.count == 0) [[unlikely]] {
      decision.verdict = Verdict::kAllow;
      decision.retry_after = Nanos(0);
    } else if (cost.count > most_) [[unlikely]] {
      decision.verdict = Verdict::kNever;
      decision.retry_after = Nanos::max();
    }
    return decision;
  }
  [[nodiscard]] Decision TellLook(Trial trial, Permits cost) const noexcept {
    Decision decision = Tell(trial, cost);
    decision.remaining = LeftOf(trial.used);
    decision.reset_after = Duration(trial.used);
    return decision;
  }

  // The same for a cost that is neither nothing nor more than can ever be had: what a caller may
  // check before anything else, and is spared the rest.
  [[nodiscard, gnu::always_inline]] bool Fits(Permits cost) const noexcept {
    return cost.count - 1 < most_;
  }
  // Leaves the word to the caller. REQUIRES: the cost fits, is one more than fits, or nothing
  [[nodiscard, gnu::always_inline]] Trial TryFitting(std::uint64_t word, Permits cost,
                                                     std::uint64_t tick) const noexcept {
    const std::uint64_t missing = word - tick;
    // A branch: whether a key is idle is guessed well enough to be worth the instructions saved.
    const std::uint64_t used = missing <= live_ ? missing : 0;
    return {used, used + cost.count * interval_};
  }
  // What there is to say, all at once, with durations as seen by whoever asked.
  [[nodiscard, gnu::always_inline]] Decision Allowed(Trial trial,
                                                     std::uint64_t reset_ns) const noexcept {
    return {.verdict = Verdict::kAllow,
            .grace = Grace::kNone,
            .limit_index = 0,
            .remaining = Permits{(capacity_ - trial.after) / interval_},
            .wait = Nanos(0),
            .retry_after = Nanos(0),
            .reset_after = Duration(reset_ns)};
  }
  [[nodiscard, gnu::always_inline]] Decision Refused(Trial trial, std::uint64_t retry_ns,
                                                     std::uint64_t reset_ns) const noexcept {
    return {.verdict = Verdict::kDeny,
            .grace = Grace::kNone,
            .limit_index = 0,
            .remaining = LeftOf(trial.used),
            .wait = Nanos(0),
            .retry_after = Duration(retry_ns),
            .reset_after = Duration(reset_ns)};
  }
  [[nodiscard]] std::uint64_t capacity() const noexcept { return capacity_; }  // in ticks
  // Nobody has to mind how long a duration can be, not even for somebody whose clock is behind by
  // less than a key without debt is remembered.
  [[nodiscard]] bool IsToldEasily() const noexcept {
    return live_ + capacity_ <= std::numeric_limits<std::int64_t>::max();
  }

 private:
  // Nothing here is longer than `live_`, which is a duration.
  static Nanos Duration(std::uint64_t ticks) noexcept {
    return Nanos(static_cast<std::int64_t>(ticks));
  }
  [[nodiscard, gnu::always_inline]] Permits LeftOf(std::uint64_t used) const noexcept {
    const std::uint64_t left = capacity_ - std::min(used, capacity_);
    // Who is refused a single permit has none left: most refusals need no division.
    return Permits{left < interval_ ? 0 : left / interval_};
  }
  PlainBucket() = default;

  std::uint64_t interval_ = 1;
  std::uint64_t capacity_ = 0;
  std::uint64_t live_ = 0;
  std::uint64_t most_ = 0;  // permits
};

}  // namespace weir::algorithm
