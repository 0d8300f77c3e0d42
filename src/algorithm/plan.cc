#include "algorithm/plan.h"

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>

#include "base/time.h"

namespace weir::algorithm {
namespace {

template <typename... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <typename... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

const char* NameOf(const Algorithm& algorithm) {
  static constexpr const char* kNames[] = {"token_bucket",   "leaky_bucket",     "fixed_window",
                                           "sliding_window", "sliding_counters", "sliding_log",
                                           "pacer"};
  return kNames[algorithm.index()];
}

Permits NominalOf(const Algorithm& algorithm) {
  return std::visit(
      Overloaded{[](const weir::TokenBucket& l) { return l.quota.burst(); },
                 [](const weir::LeakyBucket& l) { return Permits{l.queue.count + 1}; },
                 [](const weir::FixedWindow& l) { return l.permits; },
                 [](const auto& l) { return l.quota.permits(); }},
      algorithm);
}

// The same limit, but refusals do not count; nothing if they do not anyway.
std::optional<Algorithm> Lenient(const Algorithm& algorithm) {
  return std::visit(
      [](auto l) -> std::optional<Algorithm> {
        if constexpr (requires { l.denied; }) {
          if (std::exchange(l.denied, Denied::kIgnored) == Denied::kCounted) return l;
        }
        return std::nullopt;
      },
      algorithm);
}

// The algorithms of one word take the word itself; these let them take part in a State too.
Decision Admit(const Bucket& step, State& state, Permits cost, Instant now) {
  std::uint64_t word = state.Get(0);
  const Decision decision = step.Admit(word, cost, now);
  state.Set(0, word);
  return decision;
}
Decision Charge(const Bucket& step, State& state, Permits cost, Instant now) {
  std::uint64_t word = state.Get(0);
  const Decision decision = step.Charge(word, cost, now);
  state.Set(0, word);
  return decision;
}
void Refund(const Bucket& step, State& state, Permits cost, Instant now, Instant /*taken*/) {
  std::uint64_t word = state.Get(0);
  step.Refund(word, cost, now);
  state.Set(0, word);
}
void Carry(const Bucket& step, const Bucket& old, const State& from, State& to, Instant now) {
  to.Set(0, step.Carry(old, from.Get(0), now));
}
std::uint64_t ForgottenIn(const Bucket& step, const State& state, Instant now) {
  return step.ForgottenIn(state.Get(0), now);
}
std::uint64_t UsedIn(const Bucket& step, const State& state, Instant now) {
  return step.UsedPermits(state.Get(0), now);
}
std::size_t WordsOf(const Bucket& /*step*/) { return Bucket::kWords; }

template <typename S>
Decision Admit(const S& step, State& state, Permits cost, Instant now) {
  return step.Admit(state, cost, now);
}
template <typename S>
Decision Charge(const S& step, State& state, Permits cost, Instant now) {
  return step.Charge(state, cost, now);
}
template <typename S>
void Refund(const S& step, State& state, Permits cost, Instant now, Instant taken) {
  step.Refund(state, cost, now, taken);
}
template <typename S>
void Carry(const S& step, const S& old, const State& from, State& to, Instant now) {
  step.Carry(old, from, to, now);
}
template <typename S>
std::uint64_t ForgottenIn(const S& step, const State& state, Instant now) {
  return step.ForgottenIn(state, now);
}
template <typename S>
std::uint64_t UsedIn(const S& step, const State& state, Instant now) {
  return step.Used(state, now);
}
template <typename S>
std::size_t WordsOf(const S& step) {
  return step.words();
}

// States that say how far ahead somebody stands can say only so much; the others name the instant.
template <typename S>
Nanos ForesightOf(const S& step) {
  if constexpr (requires { step.Foresight(); }) {
    return ToDuration(step.Foresight());
  } else {
    return Nanos::max();
  }
}

// One answer from two limits: the harsher verdict, the longer times, the fewer permits.
void Combine(Decision& all, const Decision& one, std::size_t index) {
  const bool harsher = one.verdict > all.verdict;
  const bool as_harsh = one.verdict == all.verdict;
  if (harsher || (as_harsh && (one.allowed() ? one.remaining < all.remaining
                                             : one.retry_after > all.retry_after))) {
    all.limit_index = static_cast<std::uint16_t>(index);
  }
  all.verdict = std::max(all.verdict, one.verdict);
  all.grace = all.allowed() ? std::max(all.grace, one.grace) : Grace::kNone;
  all.remaining = std::min(all.remaining, one.remaining);
  all.wait = all.allowed() ? std::max(all.wait, one.wait) : Nanos(0);
  all.retry_after = std::max(all.retry_after, one.retry_after);
  all.reset_after = std::max(all.reset_after, one.reset_after);
}

}  // namespace

Result<Plan::Step> Plan::Compile(const Algorithm& algorithm, std::uint32_t soft_percent) {
  const auto held = [](auto made) -> Result<Step> {
    if (!made) return made.error();
    return Step(std::move(*made));
  };
  return std::visit(
      Overloaded{
          [&](const weir::TokenBucket& l) { return held(Bucket::Make(l, soft_percent)); },
          [&](const weir::LeakyBucket& l) { return held(Bucket::Make(l, soft_percent)); },
          [&](const weir::FixedWindow& l) { return held(FixedWindow::Make(l, soft_percent)); },
          [&](const weir::SlidingWindow& l) { return held(SlidingWindow::Make(l, soft_percent)); },
          [&](const weir::SlidingCounters& l) {
            return held(SlidingCounters::Make(l, soft_percent));
          },
          [&](const weir::SlidingLog& l) { return held(SlidingLog::Make(l, soft_percent)); },
          [&](const weir::Pacer& l) { return held(Pacer::Make(l, soft_percent)); }},
      algorithm);
}

Result<Plan> Plan::Of(const Limit& limit) {
  constexpr std::size_t kMostParts = 8;
  if (limit.parts().empty()) return Error{"a limit needs at least one algorithm, got none"};
  if (limit.parts().size() > kMostParts) {
    return Error{"at most " + std::to_string(kMostParts) + " limits act as one, got " +
                 std::to_string(limit.parts().size())};
  }
  if (limit.soft_percent() > 1000) {
    return Error{"soft must be at most 1000 percent, got " + std::to_string(limit.soft_percent())};
  }
  Plan plan;
  for (const Algorithm& algorithm : limit.parts()) {
    Result<Step> step = Compile(algorithm, limit.soft_percent());
    if (!step) return Error{std::string(NameOf(algorithm)) + ": " + step.error().message};
    const std::size_t words = std::visit([](const auto& s) { return WordsOf(s); }, *step);
    const std::uint64_t memory = std::visit([](const auto& s) { return s.Memory(); }, *step);
    plan.memory_ = std::max(plan.memory_, ToDuration(memory));
    plan.foresight_ =
        std::min(plan.foresight_, std::visit([](const auto& s) { return ForesightOf(s); }, *step));
    Part part{std::move(*step), plan.words_, NominalOf(algorithm), std::nullopt};
    if (const auto lenient = Lenient(algorithm)) {
      part.lenient = Compile(*lenient, limit.soft_percent()).value();
      plan.counts_refusals_ = true;
    }
    plan.parts_.push_back(std::move(part));
    plan.words_ += words;
  }
  return plan;
}

void Plan::Start(State& state, Instant now) const {
  for (const Part& part : parts_) {
    state.Enter(part.offset);
    if (const auto* bucket = std::get_if<Bucket>(&part.step)) state.Set(0, bucket->Start(now));
    if (const auto* pacer = std::get_if<Pacer>(&part.step)) pacer->Start(state, now);
  }
}

Decision Plan::AdmitAll(State& state, Permits cost, Instant now, Denied refusals) const {
  Decision all{.remaining = Permits{kMaxUint64}};
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    state.Enter(part.offset);
    const Step& step = part.lenient && refusals == Denied::kIgnored ? *part.lenient : part.step;
    const Decision one =
        std::visit([&](const auto& s) { return algorithm::Admit(s, state, cost, now); }, step);
    Combine(all, one, i);
  }
  return all;
}

Decision Plan::Admit(State& state, Permits cost, Instant now) const {
  const Decision decision = AdmitAll(state, cost, now, Denied::kCounted);
  if (parts_.size() == 1 || decision.allowed()) return decision;
  state.Discard();
  return Refuse(state, cost, now, decision);
}

// One of several refused: nobody is charged, except where refusals count.
Decision Plan::Refuse(State& state, Permits cost, Instant now, const Decision& why) const {
  Decision refusal = why;
  if (counts_refusals_ && why.verdict != Verdict::kNever) {
    CountRefusal(state, cost, now);
    // This one counts too, so a retry may have to come later than it would have had to.
    State then = state;
    refusal.retry_after = AdmitAll(then, cost, now, Denied::kIgnored).retry_after;
  }
  const Decision level = AdmitAll(state, Permits{0}, now, Denied::kIgnored);
  refusal.remaining = level.remaining;
  refusal.reset_after = level.reset_after;
  return refusal;
}

void Plan::CountRefusal(State& state, Permits cost, Instant now) const {
  for (const Part& part : parts_) {
    if (!part.lenient) continue;
    state.Enter(part.offset);
    std::visit([&](const auto& s) { algorithm::Admit(s, state, cost, now); }, part.step);
  }
}

void Plan::Begin(State& state, Instant now) const {
  for (const Part& part : parts_) {
    const auto* bucket = std::get_if<Bucket>(&part.step);
    if (bucket == nullptr || !bucket->starts_short()) continue;
    state.Enter(part.offset);
    if (state.Get(0) == 0) state.Set(0, bucket->Start(now));
  }
}

Decision Plan::Peek(State& state, Permits cost, Instant now) const {
  Decision decision = Admit(state, cost, now);
  state.Discard();
  const Decision level = AdmitAll(state, Permits{0}, now, Denied::kIgnored);
  decision.remaining = level.remaining;
  decision.reset_after = level.reset_after;
  return decision;
}

Partial Plan::TakeUpTo(State& state, Permits cost, Instant now) const {
  const Decision level = AdmitAll(state, Permits{0}, now, Denied::kIgnored);
  const Permits taken = std::min(cost, level.remaining);
  if (taken.count == 0) return {taken, Peek(state, Permits{cost.count > 0 ? 1U : 0U}, now)};
  // What is there may have to keep its distance to the last one (sliding_log's min_gap).
  const Decision decision = Admit(state, taken, now);
  return {decision.allowed() ? taken : Permits{0}, decision};
}

Reservation Plan::Reserve(State& state, Permits cost, Instant now, Nanos patience) const {
  // A caller whose clock is behind may have none left; what needs no waiting is still there for it.
  const Nanos until_the_end = Instant::max() - std::max(now, Instant{});
  patience = std::clamp(patience, Nanos(0), std::min(foresight_, until_the_end));
  const Decision at_once = AdmitAll(state, cost, now, Denied::kIgnored);
  if (at_once.allowed() && at_once.wait <= patience) return {at_once, cost, now};
  state.Discard();
  if (at_once.verdict == Verdict::kNever || at_once.retry_after > patience) {
    return {.decision = Admit(state, cost, now)};
  }
  // Not now, but soon enough: as if it came then.
  const Nanos delay = at_once.retry_after;
  const Instant then = Later(now, delay);
  Begin(state, now);
  Decision later = Admit(state, cost, then);
  later.wait = SatAdd(later.wait, delay);
  if (later.allowed() && later.wait <= patience) {
    if (delay > Nanos(0)) later.remaining = Permits{0};
    later.reset_after = SatAdd(later.reset_after, delay);
    return {later, cost, then};
  }
  // A shaper's queue is longer than the caller's patience.
  state.Discard();
  Decision refusal = AdmitAll(state, Permits{0}, now, Denied::kIgnored);
  refusal.verdict = Verdict::kDeny;
  refusal.retry_after = later.wait - patience;
  return {.decision = refusal};
}

Decision Plan::Charge(State& state, Permits cost, Instant now) const {
  Decision all{.remaining = Permits{kMaxUint64}};
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    state.Enter(parts_[i].offset);
    const Decision one =
        std::visit([&](const auto& step) { return algorithm::Charge(step, state, cost, now); },
                   parts_[i].step);
    Combine(all, one, i);
  }
  return all;
}

Permits Plan::Refund(State& state, Permits cost, Instant now, Instant taken) const {
  // All limits get the same back, so the one that can take the least in a step says how much.
  const std::size_t writes = State::kMaxWrites / parts_.size();
  Permits given = cost;
  for (const Part& part : parts_) {
    state.Enter(part.offset);
    std::visit(
        [&](const auto& step) {
          if constexpr (requires { step.RefundableBy(state, now, taken, writes); }) {
            given = std::min(given, Permits{step.RefundableBy(state, now, taken, writes)});
          }
        },
        part.step);
  }
  if (given.count == 0) return given;
  for (const Part& part : parts_) {
    state.Enter(part.offset);
    std::visit([&](const auto& step) { algorithm::Refund(step, state, given, now, taken); },
               part.step);
  }
  return given;
}

void Plan::Carry(const Plan& old, std::span<const std::uint64_t> from, std::span<std::uint64_t> to,
                 Instant now) const {
  for (std::size_t i = 0; i < std::min(parts_.size(), old.parts_.size()); ++i) {
    State before(from);
    State after = State::Direct(to);
    before.Enter(old.parts_[i].offset);
    after.Enter(parts_[i].offset);
    std::visit(
        [&](const auto& step, const auto& old_step) {
          if constexpr (std::is_same_v<decltype(step), decltype(old_step)>) {
            algorithm::Carry(step, old_step, before, after, now);
          } else {
            // Another algorithm: what was used is charged to it.
            const std::uint64_t used = algorithm::UsedIn(old_step, before, now);
            if (used > 0) algorithm::Charge(step, after, Permits{used}, now);
          }
        },
        parts_[i].step, old.parts_[i].step);
  }
}

void Plan::ForgiveDebt(std::span<std::uint64_t> words, Instant now) const {
  for (const Part& part : parts_) {
    const auto* bucket = std::get_if<Bucket>(&part.step);
    if (bucket != nullptr) words[part.offset] = bucket->WithoutDebt(words[part.offset], now);
  }
}

Nanos Plan::ForgottenIn(State& state, Instant now) const {
  std::uint64_t longest = 0;
  for (const Part& part : parts_) {
    state.Enter(part.offset);
    longest = std::max(
        longest,
        std::visit([&](const auto& step) { return algorithm::ForgottenIn(step, state, now); },
                   part.step));
  }
  return ToDuration(longest);
}

}  // namespace weir::algorithm

namespace weir {

std::optional<Error> Limit::WhatIsWrong() const {
  const Result<algorithm::Plan> plan = algorithm::Plan::Of(*this);
  if (plan) return std::nullopt;
  return plan.error();
}

}  // namespace weir
