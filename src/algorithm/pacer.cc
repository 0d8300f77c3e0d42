#include "algorithm/pacer.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "algorithm/answer.h"
#include "base/wide_math.h"

namespace weir::algorithm {
namespace {

// Squares of stored ticks, times a thousandth of the cold factor, must fit 128 bits.
constexpr std::uint64_t kMostStored = std::uint64_t{1} << 52;

}  // namespace

Result<Pacer> Pacer::Make(const weir::Pacer& limit, std::uint32_t soft_percent) {
  if (soft_percent > 0) {
    return Error{"a pacer delays instead of refusing, so it has no soft limit: drop 'soft'"};
  }
  const Result<Rate> rate = Rate::Of(limit.quota, Permits{1});
  if (!rate) return rate.error();
  if (limit.max_burst < Nanos(0) || limit.warm_up < Nanos(0)) {
    return Error{"max_burst and warm_up must not be negative"};
  }
  if (!(limit.cold_factor >= 1.0 && limit.cold_factor <= 1000.0)) {
    return Error{"cold_factor must be between 1 and 1000, got " +
                 std::to_string(limit.cold_factor)};
  }
  Pacer made;
  made.rate_ = *rate;
  made.live_ = 4 * rate->Horizon();
  const auto ticks = [&](Nanos d) {
    return Saturate(Mul(static_cast<std::uint64_t>(d.count()), rate->ticks_per_nano));
  };
  if (limit.warm_up > Nanos(0)) {
    made.cold_milli_ = static_cast<std::uint64_t>(std::llround(limit.cold_factor * 1000));
    made.warm_up_ = ticks(limit.warm_up);
    made.threshold_ = made.warm_up_ / 2;
    // At least a tick, so that there is a slope to walk on however short the warm-up is.
    const std::uint64_t cold = Saturate(Mul(made.warm_up_, 2000) / (1000 + made.cold_milli_));
    made.most_stored_ = SatAdd(made.threshold_, std::max<std::uint64_t>(cold, 1));
    made.stored_at_first_ = made.most_stored_;
  } else {
    made.most_stored_ = ticks(limit.max_burst);
  }
  if (made.most_stored_ > kMostStored) {
    return Error{"max_burst and warm_up must be shorter than " +
                 std::to_string(kMostStored / rate->ticks_per_nano / 2'000'000'000) +
                 "s at this rate"};
  }
  return made;
}

std::uint64_t Pacer::NanosFor(std::uint64_t ticks) const {
  return CeilDiv(ticks, rate_.ticks_per_nano);
}

// What is stored while nobody comes for `idle` ticks. A warming pacer cools down from threshold to
// cold in its warm-up time, so its permits are not worth a tick each.
std::uint64_t Pacer::StoredIn(std::uint64_t idle) const {
  if (warm_up_ == 0) return idle;
  return Saturate(CeilDiv(Mul(idle, most_stored_), Uint128{warm_up_}));
}

std::uint64_t Pacer::IdleFor(std::uint64_t stored) const {
  if (warm_up_ == 0) return stored;
  return Saturate(CeilDiv(Mul(stored, warm_up_), Uint128{most_stored_}));
}

Pacer::Turn Pacer::Load(const State& state, Instant now) const {
  Turn turn{ToNanos(now) * rate_.ticks_per_nano, 0, stored_at_first_};
  if (state.Get(kNextTurn) == 0) return turn;
  turn.stored = state.Get(kStored);
  const std::uint64_t next = state.Get(kNextTurn) - 1;
  const std::uint64_t ahead = next - turn.now;
  if (ahead <= live_) {
    turn.ahead = ahead;
  } else {
    const std::uint64_t idle = turn.now - next;
    turn.stored = std::min(most_stored_, SatAdd(turn.stored, StoredIn(idle)));
  }
  return turn;
}

void Pacer::Store(State& state, const Turn& turn) const {
  const std::uint64_t next = turn.now + std::min(turn.ahead, live_);
  state.Set(kNextTurn, next + 1 != 0 ? next + 1 : 1);  // a tick later is against the caller
  state.Set(kStored, turn.stored);
}

// The area under the line of the drawing between `stored - taken` and `stored`.
std::uint64_t Pacer::CostOfStored(std::uint64_t stored, std::uint64_t taken) const {
  if (warm_up_ == 0) return 0;
  const std::uint64_t cold = SatSub(stored, threshold_);
  const std::uint64_t taken_cold = std::min(taken, cold);
  const Uint128 slanted = Mul(taken_cold, 2 * cold - taken_cold) * (cold_milli_ - 1000);
  return SatAdd(taken, Saturate(CeilDiv(slanted, Mul(2000, most_stored_ - threshold_))));
}

void Pacer::Spend(Turn& turn, Permits cost) const {
  const std::uint64_t need = Saturate(Mul(cost.count, rate_.ticks_per_permit));
  const std::uint64_t from_stored = std::min(need, turn.stored);
  const std::uint64_t takes = SatAdd(CostOfStored(turn.stored, from_stored), need - from_stored);
  turn.ahead = std::min(live_, SatAdd(turn.ahead, takes));
  turn.stored -= from_stored;
}

std::uint64_t Pacer::ResetIn(const Turn& turn) const {
  return NanosFor(SatAdd(turn.ahead, IdleFor(most_stored_ - turn.stored)));
}

std::uint64_t Pacer::Memory() const {
  return NanosFor(SatAdd(IdleFor(most_stored_), rate_.ticks_per_permit));
}

// Half of it is for waiting, half for what the one who waited takes.
std::uint64_t Pacer::Foresight() const { return live_ / 2 / rate_.ticks_per_nano; }

void Pacer::Start(State& state, Instant now) const { Store(state, Load(state, now)); }

Decision Pacer::Admit(State& state, Permits cost, Instant now) const {
  Turn turn = Load(state, now);
  const auto level = [&] {
    return Level{turn.ahead > 0 ? 0 : turn.stored / rate_.ticks_per_permit, ResetIn(turn)};
  };
  if (Mul(cost.count, rate_.ticks_per_permit) > live_ / 2) return Never(level());
  if (cost.count == 0) return Allow(level());
  if (turn.ahead > 0) return Deny(level(), NanosFor(turn.ahead));
  Spend(turn, cost);
  Store(state, turn);
  return Allow(level());
}

Decision Pacer::Charge(State& state, Permits cost, Instant now) const {
  Turn turn = Load(state, now);
  if (cost.count > 0) {
    Spend(turn, cost);
    Store(state, turn);
  }
  return Allow({turn.ahead > 0 ? 0 : turn.stored / rate_.ticks_per_permit, ResetIn(turn)});
}

// Gives back at the stable rate: first the turn comes sooner, then permits are stored.
void Pacer::Refund(State& state, Permits cost, Instant now, Instant /*taken*/) const {
  Turn turn = Load(state, now);
  const std::uint64_t back = Saturate(Mul(cost.count, rate_.ticks_per_permit));
  turn.stored = std::min(most_stored_, SatAdd(turn.stored, SatSub(back, turn.ahead)));
  turn.ahead = SatSub(turn.ahead, back);
  Store(state, turn);
}

void Pacer::Carry(const Pacer& old, const State& from, State& to, Instant now) const {
  if (from.Get(kNextTurn) == 0) return;
  const Turn before = old.Load(from, now);
  Turn turn{ToNanos(now) * rate_.ticks_per_nano, 0, 0};
  // As in Guava: the turn that is waited for stays, and what is stored is stored in proportion.
  turn.ahead = Saturate(Mul(old.NanosFor(before.ahead), rate_.ticks_per_nano));
  if (old.most_stored_ > 0) {
    turn.stored = Saturate(Mul(before.stored, most_stored_) / old.most_stored_);
  }
  Store(to, turn);
}

std::uint64_t Pacer::Used(const State& state, Instant now) const {
  return CeilDiv(Load(state, now).ahead, rate_.ticks_per_permit);
}

std::uint64_t Pacer::ForgottenIn(const State& state, Instant now) const {
  return ResetIn(Load(state, now));
}

}  // namespace weir::algorithm
