// Taking from several keys, all or nothing.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/check.h"
#include "limiter/ledger.h"
#include "limiter/ledger_shelf.h"
#include "weir/take_all.h"

namespace weir {

using algorithm::Plan;

// TakeAll() in the fewest steps, where the state of all limits is one word, all keys are known and
// nobody is to wait: nearly always. Nothing if that is not so, if another request came between look
// and taking, or if a limit that is no bucket may have more to say to a refusal.
std::optional<Decision> Ledger::TakeFromWords(std::span<const Ask> asks,
                                              std::span<Reservation> taken,
                                              Timeline::Moment moment) noexcept {
  constexpr std::size_t kMost = 8;
  if (asks.size() > kMost || moment.ahead != Nanos(0)) return std::nullopt;
  std::array<KeyStates::Look, kMost> looks;
  bool admitted = true;
  bool all_buckets = true;
  for (std::size_t i = 0; i < asks.size(); ++i) {
    const Ask& ask = asks[i];
    const Planned& planned = ask.limit->planned_;
    if (ask.patience != Nanos(0)) return std::nullopt;
    if (planned.bucket != nullptr) [[likely]] {
      if (!planned.bucket->starts_full()) return std::nullopt;
      planned.WithBucket([&](const auto& bucket) {
        looks[i] = ask.limit->shelf_->LookAt(bucket, planned.kind, ask.key, ask.cost, moment.now);
        admitted &= bucket.Admits(looks[i].trial) || ask.cost.count == 0;
      });
    } else {
      if (ask.limit->shelf_->has_records() || planned.plan.counts_refusals()) return std::nullopt;
      all_buckets = false;
      bool admits = false;
      looks[i] = ask.limit->shelf_->LookAtWord(planned, ask.key, ask.cost, moment.now, admits);
      admitted &= admits;
    }
    if (looks[i].slot == nullptr) return std::nullopt;  // it may be on another shelf
  }
  if (!admitted && !all_buckets) return std::nullopt;
  Decision all{.remaining = Permits{UINT64_MAX}};
  for (std::size_t i = 0; i < asks.size(); ++i) {
    const Ask& ask = asks[i];
    const Planned& planned = ask.limit->planned_;
    Decision& decision = taken[i].decision;
    bool done = true;
    if (planned.bucket == nullptr) {
      done = Shelf::TakeSeenWord(planned, looks[i], ask.cost, moment.now, decision);
    } else {
      planned.WithBucket([&](const auto& bucket) {
        if (admitted) {
          done = Shelf::TakeSeen(bucket, looks[i], ask.cost, moment.now, decision);
        } else {
          bucket.TellLook(looks[i].trial, ask.cost, decision);
        }
      });
    }
    taken[i].cost = admitted ? ask.cost : Permits{0};
    taken[i].taken = moment.now;
    if (admitted && !(done && decision.allowed())) {
      for (std::size_t j = 0; j < i; ++j) Cancel(asks[j], taken[j], moment.now);
      return std::nullopt;
    }
    internal::Join(all, decision, i);
  }
  return all;
}

Decision Ledger::TakeAll(std::span<const Ask> asks, std::span<Reservation> taken,
                         Instant now) noexcept {
  WEIR_CHECK(asks.size() == taken.size());
  const Timeline::Moment moment = timeline_->FollowClock(now);
  if (auto decision = TakeFromWords(asks, taken, moment)) return *decision;
  if (asks.size() == 1 && asks[0].patience == Nanos(0)) {  // the one case without a second look
    const Ask& ask = asks[0];
    Decision decision =
        ShelfOf(ask, moment.now).Take(ask.limit->planned_, ask.key, ask.cost, moment.now);
    Timeline::Adjust(decision, moment.ahead);
    taken[0] = {decision, decision.allowed() ? ask.cost : Permits{0}, moment.now};
    return decision;
  }
  const auto peek = [&](std::size_t i) {
    Decision decision = Peek(asks[i], now);
    if (decision.verdict == Verdict::kDeny && decision.retry_after <= asks[i].patience) {
      decision.verdict = Verdict::kAllow;  // it can be had, a little later
      decision.wait = std::exchange(decision.retry_after, Nanos(0));
    }
    return decision;
  };
  const auto reserve = [&](std::size_t i, Nanos wait) {
    // A shaper bounds its own queue, which may have grown since it was looked at.
    const Nanos patience = asks[i].patience > Nanos(0) ? std::max(wait, asks[i].patience)
                           : wait > Nanos(0)           ? Nanos::max()
                                                       : Nanos(0);
    return ReserveAt(asks[i], patience, moment);
  };
  const auto cancel = [&](std::size_t i, Reservation& reservation) {
    Cancel(asks[i], reservation, now);
  };
  const Decision all = internal::TakeParts(taken, peek, reserve, cancel);
  return all.verdict == Verdict::kDeny ? CountRefusals(asks, taken, all, now) : all;
}

// Those who refuse have counted it themselves.
Decision Ledger::CountRefusals(std::span<const Ask> asks, std::span<Reservation> taken,
                               const Decision& refusal, Instant now) noexcept {
  bool counted = false;
  for (std::size_t i = 0; i < asks.size(); ++i) {
    if (!taken[i].allowed() || !asks[i].limit->planned_.plan.counts_refusals()) continue;
    counted = true;
    const Instant at = timeline_->FollowClock(now).now;
    Change(asks[i], at, [&](const Plan& plan, auto& state) {
      plan.CountRefusal(state, asks[i].cost, at);
      return true;
    });
    taken[i].decision = Peek(asks[i], now);
  }
  if (!counted) return refusal;
  // So a retry may have to come later than it would have had to.
  Decision all{.remaining = Permits{UINT64_MAX}};
  for (std::size_t i = 0; i < taken.size(); ++i) internal::Join(all, taken[i].decision, i);
  return all.allowed() ? refusal : all;
}

}  // namespace weir
