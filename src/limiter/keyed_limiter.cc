#include "weir/keyed_limiter.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/time.h"
#include "limiter/elastic.h"
#include "limiter/key_hash.h"
#include "limiter/keyed_state.h"
#include "limiter/pause.h"
#include "limiter/refund.h"

namespace weir {

using algorithm::Plan;

KeyedLimiter::KeyedLimiter(std::unique_ptr<State> state) : state_(std::move(state)) {}
KeyedLimiter::KeyedLimiter(const Limit& limit, KeyedOptions options)
    : KeyedLimiter(Open(limit, std::move(options)).value()) {}
KeyedLimiter::KeyedLimiter(KeyedLimiter&&) noexcept = default;
KeyedLimiter& KeyedLimiter::operator=(KeyedLimiter&&) noexcept = default;
KeyedLimiter::~KeyedLimiter() = default;

Result<KeyedLimiter> KeyedLimiter::Open(const Limit& limit, KeyedOptions options) {
  Result<std::unique_ptr<State>> state = State::Open(limit, std::move(options));
  if (!state) return state.error();
  return KeyedLimiter(std::move(*state));
}

KeyHash KeyedLimiter::Hash(std::string_view key) const noexcept {
  return HashKey(key, state_->seed());
}

Instant KeyedLimiter::Now() const noexcept { return state_->Now(); }

Decision KeyedLimiter::Take(std::string_view key, Permits cost) noexcept {
  State& state = *state_;
  const Instant now = state.Now();
  const KeyHash hash = Hash(key);
  const auto beside = [&](table::Key k) { return state.TakeBesideLane(k, cost, now); };
  const Timeline::Moment moment = state.timeline().FollowClock(now);
  if (moment.ahead == Nanos(0)) [[likely]] {
    const std::uint64_t tick = ToNanos(moment.now);
    return state.lane().TakeAt(hash, cost, tick, tick, beside);
  }
  return state.lane().Take(hash, cost, now, beside);
}

Decision KeyedLimiter::Take(KeyHash key, Permits cost, Instant now) noexcept {
  const Lane<State>& lane = state_->lane();
  return lane.Take(key, cost, now,
                   [&](table::Key k) { return lane.owner().TakeBesideLane(k, cost, now); });
}

namespace {

constexpr std::size_t kHashedAtOnce = 64;

void Finish(std::span<Decision> decisions, const std::function<bool()>& has_room, Nanos ahead) {
  if (!has_room && ahead == Nanos(0)) return;
  for (Decision& decision : decisions) {
    if (decision.verdict == Verdict::kDeny) Stretch(decision, has_room);
    Timeline::Adjust(decision, ahead);
  }
}

}  // namespace

void KeyedLimiter::Take(std::span<const Ask> asks, std::span<Decision> decisions,
                        Instant now) noexcept {
  WEIR_CHECK(asks.size() == decisions.size());
  const Timeline::Moment moment = state_->timeline().Follow(now);
  std::array<HashedAsk, kHashedAtOnce> hashed;
  for (std::size_t first = 0; first < asks.size(); first += kHashedAtOnce) {
    const std::size_t count = std::min(kHashedAtOnce, asks.size() - first);
    for (std::size_t i = 0; i < count; ++i) {
      const Ask& ask = asks[first + i];
      hashed[i] = {HashKey(ask.key, state_->seed()), ask.cost};
      state_->Prefetch(hashed[i].key);
    }
    state_->TakeEach(state_->current(), std::span(hashed).first(count),
                     decisions.subspan(first, count), moment.now);
  }
  Finish(decisions, state_->has_room(), moment.ahead);
}

void KeyedLimiter::Take(std::span<const HashedAsk> asks, std::span<Decision> decisions,
                        Instant now) noexcept {
  WEIR_CHECK(asks.size() == decisions.size());
  const Timeline::Moment moment = state_->timeline().Follow(now);
  state_->TakeEach(state_->current(), asks, decisions, moment.now);
  Finish(decisions, state_->has_room(), moment.ahead);
}

Decision KeyedLimiter::Peek(std::string_view key, Permits cost, Instant now) noexcept {
  const Timeline::Moment moment = state_->timeline().Follow(now);
  Decision decision = state_->Change(
      state_->current(), Hash(key), moment.now,
      [&](const Plan& plan, auto& state) { return plan.Peek(state, cost, moment.now); });
  if (decision.verdict == Verdict::kDeny) Stretch(decision, state_->has_room());
  Timeline::Adjust(decision, moment.ahead);
  return decision;
}

Partial KeyedLimiter::TakeUpTo(std::string_view key, Permits cost, Instant now) noexcept {
  const Timeline::Moment moment = state_->timeline().Follow(now);
  Partial partial = state_->Change(
      state_->current(), Hash(key), moment.now,
      [&](const Plan& plan, auto& state) { return plan.TakeUpTo(state, cost, moment.now); });
  Timeline::Adjust(partial.decision, moment.ahead);
  return partial;
}

Decision KeyedLimiter::Charge(std::string_view key, Permits cost, Instant now) noexcept {
  const Timeline::Moment moment = state_->timeline().Follow(now);
  Decision decision = state_->Change(
      state_->current(), Hash(key), moment.now,
      [&](const Plan& plan, auto& state) { return plan.Charge(state, cost, moment.now); });
  Timeline::Adjust(decision, moment.ahead);
  return decision;
}

void KeyedLimiter::Refund(std::string_view key, Permits cost, Instant now) noexcept {
  const Instant at = state_->timeline().Follow(now).now;
  RefundInSteps(cost, [&](Permits left) {
    return state_->Change(state_->current(), Hash(key), at, [&](const Plan& plan, auto& state) {
      return plan.Refund(state, left, at, at);
    });
  });
}

Reservation KeyedLimiter::Reserve(std::string_view key, Permits cost, Nanos patience,
                                  Instant now) noexcept {
  const Timeline::Moment moment = state_->timeline().Follow(now);
  Reservation reservation =
      state_->Change(state_->current(), Hash(key), moment.now, [&](const Plan& plan, auto& state) {
        return plan.Reserve(state, cost, moment.now, std::max(patience, Nanos(0)) - moment.ahead);
      });
  if (reservation.decision.verdict == Verdict::kDeny) {
    Stretch(reservation.decision, state_->has_room());
  }
  Timeline::Adjust(reservation.decision, moment.ahead);
  return reservation;
}

void KeyedLimiter::Cancel(std::string_view key, Reservation& reservation, Instant now) noexcept {
  const Instant at = state_->timeline().Follow(now).now;
  const Permits cost = std::exchange(reservation.cost, Permits{0});
  RefundInSteps(cost, [&](Permits left) {
    return state_->Change(state_->current(), Hash(key), at, [&](const Plan& plan, auto& state) {
      return plan.Refund(state, left, at, reservation.taken);
    });
  });
}

Decision KeyedLimiter::Wait(std::string_view key, Permits cost, const std::stop_token& stop,
                            Instant deadline) {
  const Instant now = Now();
  Reservation reservation = Reserve(key, cost, deadline > now ? deadline - now : Nanos(0), now);
  return WaitFor(reservation, stop, [&](Reservation& r) { Cancel(key, r); });
}

Result<Limit> KeyedLimiter::SetLimit(const Limit& limit, Instant now) {
  return state_->SetLimit(limit, now);
}

std::uint64_t KeyedLimiter::evicted() const noexcept { return state_->evicted(); }
std::size_t KeyedLimiter::bytes() const noexcept { return state_->bytes(); }
std::uint64_t KeyedLimiter::CountKeys(Instant now) noexcept { return state_->CountKeys(now); }

}  // namespace weir
