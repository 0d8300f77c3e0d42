#include "weir/limiter.h"

#include <atomic>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "algorithm/plan.h"
#include "base/seqlock.h"
#include "limiter/elastic.h"
#include "limiter/pause.h"
#include "limiter/refund.h"
#include "limiter/timeline.h"

namespace weir {

using algorithm::Bucket;
using algorithm::PlainBucket;
using algorithm::Plan;

// A bucket lives in `word_`, where taking changes it by compare-and-swap. Every other state lives
// in `words_` under the mutex; `word_` is then Bucket::kElsewhere, as it is while the limit
// changes.
class Limiter::State {
 public:
  State(Plan plan, LimiterOptions options, Instant created)
      : options_(std::move(options)),
        plain_(PlainOf(plan)),
        bucket_(BucketOf(plan)),
        plan_(std::move(plan)) {
    std::vector<std::uint64_t> words(plan_.words());
    algorithm::State start = algorithm::State::Direct(words);
    plan_.Start(start, created);
    Place(std::move(words));
  }

  // Runs `step(plan, state)` and keeps what it changed, atomically.
  template <typename Step>
  auto Change(Step step) {
    const std::lock_guard lock(mutex_);
    for (;;) {
      std::uint64_t old = word_.load(std::memory_order_acquire);
      const bool in_word = old != Bucket::kElsewhere;
      if (in_word) words_[0] = old;
      algorithm::State state{std::span<const std::uint64_t>(words_)};
      auto answer = step(plan_, state);
      for (const WordWrite& write : state.writes()) words_[write.index] = write.value;
      if (!in_word || words_[0] == old ||
          word_.compare_exchange_strong(old, words_[0], std::memory_order_acq_rel)) {
        return answer;
      }
    }
  }

  // Where all is as it nearly always is, the limit a plain bucket and nobody else in between, this
  // is all there is to do. A refusal writes nothing.
  [[gnu::always_inline]] Decision Take(Permits cost, Instant now,
                                       Timeline::Moment moment) noexcept {
    // The word first: if the limit changes meanwhile, the word does too, and is found changed.
    std::uint64_t word = word_.load(std::memory_order_acquire);
    const std::optional<PlainBucket> bucket = plain_.TryLoad();
    if (!bucket || !bucket->Fits(cost) || word == Bucket::kElsewhere) [[unlikely]] {
      return TakeAny(cost, now);
    }
    const std::uint64_t tick = ToNanos(moment.now);
    const std::uint64_t asked = tick - static_cast<std::uint64_t>(moment.ahead.count());
    const Bucket::Trial trial = bucket->TryFitting(word, cost, tick);
    const std::uint64_t full_at = tick + trial.after;
    if (bucket->Admits(trial)) {
      if (!word_.compare_exchange_strong(word, full_at, std::memory_order_acq_rel)) [[unlikely]] {
        return TakeAny(cost, now);
      }
      return bucket->Allowed(trial, full_at - asked);
    }
    if (word_.load(std::memory_order_acquire) != word) [[unlikely]] {
      return TakeAny(cost, now);
    }
    return bucket->Refused(trial, full_at - bucket->capacity() - asked, word - asked);
  }

  void SetPlan(Plan plan, Instant now) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t word = word_.exchange(Bucket::kElsewhere, std::memory_order_acq_rel);
    if (word != Bucket::kElsewhere) words_[0] = word;
    std::vector<std::uint64_t> words(plan.words());
    plan.Carry(plan_, words_, words, now);
    plan_ = std::move(plan);
    // Another word than before, also where nothing was used: who is about to change the old one by
    // the old limit must notice.
    if (const Bucket* bucket = plan_.only_bucket(); bucket != nullptr && words[0] == 0) {
      bucket->Refund(words[0], Permits{0}, now);
    }
    plain_.Store(PlainOf(plan_));
    bucket_.Store(BucketOf(plan_));
    Place(std::move(words));
  }

  [[nodiscard]] const LimiterOptions& options() const { return options_; }
  [[nodiscard]] Timeline& timeline() noexcept { return timeline_; }

 private:
  // All that Take() does not know. Apart, so that what is done for all others is short.
  [[gnu::noinline]] Decision TakeAny(Permits cost, Instant asked) noexcept {
    // Noted by now at the latest: not everybody keeps, as a bucket does, what came a little
    // earlier.
    const Timeline::Moment moment = timeline_.Follow(asked);
    Decision decision;
    if (!TakeFromBucket(cost, moment.now, decision)) {
      decision = Change(
          [&](const Plan& plan, auto& state) { return plan.Admit(state, cost, moment.now); });
    }
    if (decision.verdict == Verdict::kDeny) Stretch(decision, options_.has_room);
    Timeline::Adjust(decision, moment.ahead);
    return decision;
  }

  // A bucket of whatever kind, without a lock. False if it is none.
  bool TakeFromBucket(Permits cost, Instant now, Decision& decision) noexcept {
    for (;;) {
      std::uint64_t old = word_.load(std::memory_order_acquire);
      if (old == Bucket::kElsewhere) return false;
      const Bucket bucket = bucket_.Load();  // behind the word, as above
      std::uint64_t word = old;
      const Bucket::Trial trial = bucket.Try(word, cost, bucket.TickAt(now));
      const bool kept = word == old
                            ? word_.load(std::memory_order_acquire) == old
                            : word_.compare_exchange_strong(old, word, std::memory_order_acq_rel);
      if (!kept) continue;
      decision = bucket.Tell(trial, cost);
      return true;
    }
  }

  // One that nothing fits, if there is more to it than Take() knows.
  [[nodiscard]] PlainBucket PlainOf(const Plan& plan) const {
    const Bucket* bucket = plan.only_bucket();
    const bool is_simple = bucket != nullptr && bucket->is_plain() && !options_.has_room;
    if (!is_simple) return PlainBucket::Closed();
    const PlainBucket plain(*bucket);
    return plain.IsToldEasily() ? plain : PlainBucket::Closed();
  }

  // Where the plan is no bucket, any will do: nobody looks at it.
  static Bucket BucketOf(const Plan& plan) {
    if (const Bucket* bucket = plan.only_bucket()) return *bucket;
    return *Bucket::Make(TokenBucket{Quota::PerSecond(1)}, 0);
  }

  // REQUIRES: the mutex is held, or nobody else knows of this object yet.
  void Place(std::vector<std::uint64_t> words) {
    words_ = std::move(words);
    timeline_.set_memory(plan_.memory());
    word_.store(plan_.only_bucket() != nullptr ? words_[0] : Bucket::kElsewhere,
                std::memory_order_release);
  }

  const LimiterOptions options_;
  TimelineState seen_;
  Timeline timeline_{seen_, Nanos(0)};

  // What is read by every decision lies together; what is written by some lies apart.
  alignas(64) SeqLocked<PlainBucket> plain_;
  SeqLocked<Bucket> bucket_;
  alignas(64) std::atomic<std::uint64_t> word_{Bucket::kElsewhere};
  alignas(64) std::mutex mutex_;
  Plan plan_;                         // guarded by mutex_
  std::vector<std::uint64_t> words_;  // guarded by mutex_
};

Limiter::Limiter(const Limit& limit, LimiterOptions options, Instant created)
    : state_(std::make_unique<State>(Plan::Of(limit).value(), std::move(options), created)) {}
Limiter::~Limiter() = default;

Decision Limiter::Take(Permits cost) noexcept {
  State& state = *state_;
  const Instant now = Clock::now();
  return state.Take(cost, now, state.timeline().FollowClock(now));
}

Decision Limiter::Take(Permits cost, Instant now) noexcept {
  State& state = *state_;
  return state.Take(cost, now, state.timeline().Follow(now));
}

Decision Limiter::Peek(Permits cost, Instant now) noexcept {
  const Timeline::Moment moment = state_->timeline().Follow(now);
  Decision decision = state_->Change(
      [&](const Plan& plan, auto& state) { return plan.Peek(state, cost, moment.now); });
  if (decision.verdict == Verdict::kDeny) Stretch(decision, state_->options().has_room);
  Timeline::Adjust(decision, moment.ahead);
  return decision;
}

Partial Limiter::TakeUpTo(Permits cost, Instant now) noexcept {
  const Timeline::Moment moment = state_->timeline().Follow(now);
  Partial partial = state_->Change(
      [&](const Plan& plan, auto& state) { return plan.TakeUpTo(state, cost, moment.now); });
  Timeline::Adjust(partial.decision, moment.ahead);
  return partial;
}

Decision Limiter::Charge(Permits cost, Instant now) noexcept {
  const Timeline::Moment moment = state_->timeline().Follow(now);
  Decision decision = state_->Change(
      [&](const Plan& plan, auto& state) { return plan.Charge(state, cost, moment.now); });
  Timeline::Adjust(decision, moment.ahead);
  return decision;
}

void Limiter::Refund(Permits cost, Instant now) noexcept {
  const Instant at = state_->timeline().Follow(now).now;
  RefundInSteps(cost, [&](Permits left) {
    return state_->Change(
        [&](const Plan& plan, auto& state) { return plan.Refund(state, left, at, at); });
  });
}

Reservation Limiter::Reserve(Permits cost, Nanos patience, Instant now) noexcept {
  const Timeline::Moment moment = state_->timeline().Follow(now);
  Reservation reservation = state_->Change([&](const Plan& plan, auto& state) {
    return plan.Reserve(state, cost, moment.now, std::max(patience, Nanos(0)) - moment.ahead);
  });
  if (reservation.decision.verdict == Verdict::kDeny) {
    Stretch(reservation.decision, state_->options().has_room);
  }
  Timeline::Adjust(reservation.decision, moment.ahead);
  return reservation;
}

void Limiter::Cancel(Reservation& reservation, Instant now) noexcept {
  const Instant at = state_->timeline().Follow(now).now;
  const Permits cost = std::exchange(reservation.cost, Permits{0});
  RefundInSteps(cost, [&](Permits left) {
    return state_->Change([&](const Plan& plan, auto& state) {
      return plan.Refund(state, left, at, reservation.taken);
    });
  });
}

Decision Limiter::Wait(Permits cost, const std::stop_token& stop, Instant deadline) {
  const Instant now = Clock::now();
  Reservation reservation = Reserve(cost, deadline > now ? deadline - now : Nanos(0), now);
  return WaitFor(reservation, stop, [this](Reservation& r) { Cancel(r); });
}

void Limiter::SetLimit(const Limit& limit) {
  Plan plan = Plan::Of(limit).value();  // takes its time: the clock is read after it
  state_->SetPlan(std::move(plan), state_->timeline().Follow(Clock::now()).now);
}

void Limiter::SetLimit(const Limit& limit, Instant now) {
  Plan plan = Plan::Of(limit).value();
  state_->SetPlan(std::move(plan), state_->timeline().Follow(now).now);
}

}  // namespace weir
