// No limit admits more than it states: a million random calls of each kind, at rates from one per
// year to one per nanosecond, by callers who ask as soon as they are told to, against a witness
// that only adds up what was admitted.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <variant>

#include "algorithm/plan.h"
#include "base/time.h"
#include "base/wide_math.h"
#include "tests/random_limits.h"
#include "weir/limit.h"
#include "weir/limiter.h"

namespace weir {
namespace {

using random::AnyLimit;
using random::CapacityOf;
using random::Kind;
using random::QuotaOf;
using random::Random;

__extension__ using Int128 = __int128;

// Adds up what was admitted. Instants never go back.
class Witness {
 public:
  virtual ~Witness() = default;
  // Whether admitting `cost` at `now` is still within what the limit states.
  virtual bool Admit(std::uint64_t cost, std::uint64_t now) = 0;
};

// Over any stretch of time: at most `burst`, and what the rate gives in that time. A pacer lets the
// next one pay, so there the last request of the stretch is not counted.
class RateWitness : public Witness {
 public:
  enum class LastRequest { kCounts, kIsPaidByTheNext };

  // `burst` and `initial` are in permits times the period.
  RateWitness(const Quota& quota, Int128 burst, Int128 initial, LastRequest last,
              std::uint64_t created)
      : permits_(quota.permits().count),
        period_(static_cast<std::uint64_t>(quota.period().count())),
        burst_(burst),
        least_(initial - burst),
        last_(last),
        created_(created) {}

  bool Admit(std::uint64_t cost, std::uint64_t now) override {
    // The height of what was admitted above the line that rises at the rate.
    const Int128 line = Int128(permits_) * (now - created_);
    const Int128 before = Int128(admitted_) * period_ - line;
    admitted_ += cost;
    const Int128 after = Int128(admitted_) * period_ - line;
    least_ = std::min(least_, before);
    return (last_ == LastRequest::kCounts ? after : before) - least_ <= burst_;
  }

 private:
  std::uint64_t permits_;
  std::uint64_t period_;
  Int128 burst_;
  Int128 least_;  // of the heights at which a stretch could have begun
  LastRequest last_;
  std::uint64_t created_;
  std::uint64_t admitted_ = 0;
};

class FixedWindowWitness : public Witness {
 public:
  FixedWindowWitness(std::uint64_t permits, std::uint64_t period, WindowStart start)
      : permits_(permits), period_(period), begins_(start) {}

  bool Admit(std::uint64_t cost, std::uint64_t now) override {
    if (now >= end_) {
      end_ = begins_ == WindowStart::kEpoch ? (now / period_ + 1) * period_ : now + period_;
      admitted_ = 0;
    }
    admitted_ += cost;
    return admitted_ <= permits_;
  }

 private:
  std::uint64_t permits_;
  std::uint64_t period_;
  WindowStart begins_;
  std::uint64_t end_ = 0;
  std::uint64_t admitted_ = 0;
};

class SlidingWindowWitness : public Witness {
 public:
  SlidingWindowWitness(std::uint64_t permits, std::uint64_t period)
      : permits_(permits), period_(period) {}

  bool Admit(std::uint64_t cost, std::uint64_t now) override {
    const std::uint64_t number = now / period_;
    if (number != number_) {
      previous_ = number == number_ + 1 ? current_ : 0;
      current_ = 0;
      number_ = number;
    }
    current_ += cost;
    const Uint128 used = Mul(current_, period_) + Mul(previous_, period_ - now % period_);
    return used <= Mul(permits_, period_);
  }

 private:
  std::uint64_t permits_;
  std::uint64_t period_;
  std::uint64_t number_ = 0;
  std::uint64_t previous_ = 0;
  std::uint64_t current_ = 0;
};

// Over the last stretch of `length` units: nanoseconds for a log, parts for counters.
class StretchWitness : public Witness {
 public:
  StretchWitness(std::uint64_t permits, std::uint64_t length, std::uint64_t min_gap = 0)
      : permits_(permits), length_(length), min_gap_(min_gap) {}

  bool Admit(std::uint64_t cost, std::uint64_t at) override {
    while (!log_.empty() && log_.front().at + length_ <= at) {
      admitted_ -= log_.front().cost;
      log_.pop_front();
    }
    const bool too_close = asked_ && at - last_ < min_gap_;
    asked_ = true;
    last_ = at;
    log_.push_back({at, cost});
    admitted_ += cost;
    return admitted_ <= permits_ && !too_close;
  }

 private:
  struct Entry {
    std::uint64_t at;
    std::uint64_t cost;
  };

  std::uint64_t permits_;
  std::uint64_t length_;
  std::uint64_t min_gap_;
  std::deque<Entry> log_;
  std::uint64_t admitted_ = 0;
  std::uint64_t last_ = 0;
  bool asked_ = false;
};

class CountersWitness : public Witness {
 public:
  CountersWitness(std::uint64_t permits, std::uint64_t period, std::uint64_t parts)
      : period_(period), parts_(parts), stretch_(permits, parts) {}

  bool Admit(std::uint64_t cost, std::uint64_t now) override {
    return stretch_.Admit(cost, static_cast<std::uint64_t>(Mul(now, parts_) / period_));
  }

 private:
  std::uint64_t period_;
  std::uint64_t parts_;
  StretchWitness stretch_;
};

std::unique_ptr<Witness> WitnessOf(const Algorithm& algorithm, std::uint64_t created) {
  const Quota quota = QuotaOf(algorithm);
  const std::uint64_t permits = quota.permits().count;
  const auto period = static_cast<std::uint64_t>(quota.period().count());
  const Int128 capacity = Int128(CapacityOf(algorithm)) * period;
  using Last = RateWitness::LastRequest;
  if (const auto* l = std::get_if<TokenBucket>(&algorithm)) {
    const Int128 initial = Int128(l->quota.initial().count) * period;
    return std::make_unique<RateWitness>(quota, capacity, initial, Last::kCounts, created);
  }
  if (std::holds_alternative<LeakyBucket>(algorithm)) {
    return std::make_unique<RateWitness>(quota, capacity, capacity, Last::kCounts, created);
  }
  if (const auto* l = std::get_if<FixedWindow>(&algorithm)) {
    return std::make_unique<FixedWindowWitness>(permits, period, l->start);
  }
  if (std::holds_alternative<SlidingWindow>(algorithm)) {
    return std::make_unique<SlidingWindowWitness>(permits, period);
  }
  if (const auto* l = std::get_if<SlidingCounters>(&algorithm)) {
    return std::make_unique<CountersWitness>(permits, period, l->windows);
  }
  if (const auto* l = std::get_if<SlidingLog>(&algorithm)) {
    return std::make_unique<StretchWitness>(permits, period,
                                            static_cast<std::uint64_t>(l->min_gap.count()));
  }
  const Int128 stored = Int128(std::get<Pacer>(algorithm).max_burst.count()) * permits;
  return std::make_unique<RateWitness>(quota, stored, 0, Last::kIsPaidByTheNext, created);
}

class StatedBound : public testing::TestWithParam<Kind> {};

TEST_P(StatedBound, HoldsOverAMillionCalls) {
  constexpr int kLimits = 1000;
  constexpr int kCallsEach = 1000;
  int admitted = 0;
  int refused = 0;
  for (std::uint64_t seed = 1; seed <= kLimits; ++seed) {
    Random random(seed);
    const Limit limit = AnyLimit(random, GetParam()).Soft(0);
    const Algorithm& algorithm = limit.parts()[0];
    const auto period = static_cast<std::uint64_t>(QuotaOf(algorithm).period().count());
    const std::uint64_t capacity = CapacityOf(algorithm);
    // Thousand periods of a year do not fit what a clock can show.
    const std::uint64_t longest_step = std::min(period, std::uint64_t{1} << 51);
    const auto memory = static_cast<std::uint64_t>(algorithm::Plan::Of(limit)->memory().count());
    const std::uint64_t a_little = std::min<std::uint64_t>(memory, 1000) + 1;
    std::uint64_t latest = random.OneIn(2) ? 1000 : random.AnySize(1000, std::uint64_t{1} << 61);
    Limiter limiter(limit, {}, ToInstant(latest));
    const std::unique_ptr<Witness> witness = WitnessOf(algorithm, latest);
    std::uint64_t seen = latest;
    std::uint64_t retry = 0;
    for (int i = 0; i < kCallsEach; ++i) {
      const std::uint64_t cost = random.OneIn(2) ? 1 : random.AnySize(1, capacity);
      const std::uint64_t step = random.OneIn(2)   ? retry
                                 : random.OneIn(2) ? 0
                                                   : random.AnySize(0, longest_step);
      latest = std::min(latest + std::min(step, longest_step), std::uint64_t{1} << 62);
      // Now and then by a clock that is a little behind (limiter/timeline.h).
      const std::uint64_t behind = i > 0 && random.OneIn(16) ? random.Below(a_little) : 0;
      seen = std::max(seen, latest - behind);
      const Decision decision = limiter.Take(Permits{cost}, ToInstant(latest - behind));
      retry = static_cast<std::uint64_t>(decision.retry_after.count());
      ++(decision.allowed() ? admitted : refused);
      if (!decision.allowed()) continue;
      ASSERT_TRUE(witness->Admit(cost, seen))
          << "seed " << seed << ", call " << i << ": " << limit.ToString() << " admits " << cost
          << " too many at " << seen << "ns";
    }
  }
  // Otherwise nothing was shown.
  EXPECT_GT(admitted, kLimits * kCallsEach / 20);
  EXPECT_GT(refused, kLimits * kCallsEach / 20);
}

INSTANTIATE_TEST_SUITE_P(All, StatedBound, random::AllKinds(), random::NameOf);

}  // namespace
}  // namespace weir
