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

Ledger::Part Ledger::PartOf(const Entered& limit, KeyHash offset, Permits cost,
                            std::uint32_t values) {
  const Planned& planned = limit.planned_;
  const bool is_plain = planned.plain && planned.plain->Fits(cost);
  return {.limit = &limit,
          .offset = offset,
          .cost = cost,
          .values = values,
          .kind = planned.kind,
          .plain = is_plain ? &*planned.plain : nullptr};
}

table::AtomicSlot* Ledger::LookAround(const Part& part,
                                      std::span<const KeyHash> hashes) const noexcept {
  const table::Table::Map map = words_->map();
  const KeyHash hash = part.KeyOf(hashes);
  return map.LookAround(map.KeyOf(hash.low, hash.high, part.kind));
}

bool Ledger::AdmitAtOnce(const Part& part, Instant now, std::uint64_t& word,
                         Decision& decision) noexcept {
  const Planned& planned = part.limit->planned_;
  if (planned.bucket != nullptr) {
    planned.WithBucket([&](const auto& bucket) {
      const auto trial = bucket.Try(word, part.cost, bucket.TickAt(now));
      decision = bucket.Tell(trial, part.cost);
    });
  } else {
    if (part.limit->shelf_->has_records() || planned.plan.counts_refusals()) return false;
    decision = Shelf::AdmitWord(planned, part.cost, now, word);
  }
  return decision.wait == Nanos(0);
}

// TakeAll() in the fewest steps, where the state of all limits is one word, all keys are known and
// nobody is to wait: nearly always. False if that is not so, if another request came between look
// and taking, or if a limit that is no bucket may have more to say to a refusal.
bool Ledger::TakeFromWords(std::span<const Ask> asks, std::span<Reservation> taken,
                           Timeline::Moment moment, Decision& all) noexcept {
  constexpr std::size_t kMost = 8;
  if (asks.size() > kMost || moment.ahead != Nanos(0)) return false;
  std::array<KeyStates::Look, kMost> looks;
  bool admitted = true;
  bool all_buckets = true;
  for (std::size_t i = 0; i < asks.size(); ++i) {
    const Ask& ask = asks[i];
    const Planned& planned = ask.limit->planned_;
    Decision& decision = taken[i].decision;
    if (ask.patience != Nanos(0)) return false;
    const bool is_bucket = planned.bucket != nullptr;
    if (!is_bucket) [[unlikely]] {
      if (ask.limit->shelf_->has_records() || planned.plan.counts_refusals()) return false;
      all_buckets = false;
    }
    KeyStates::Look look = ask.limit->shelf_->LookAt(planned.kind, ask.key);
    if (look.slot == nullptr) return false;  // it may be on another shelf
    if (is_bucket) [[likely]] {
      planned.WithBucket([&](const auto& bucket) {
        look.trial = bucket.Try(look.word, ask.cost, bucket.TickAt(moment.now));
        admitted &= bucket.Admits(look.trial) || ask.cost.count == 0;
        decision = bucket.Tell(look.trial, ask.cost);
      });
    } else {
      decision = Shelf::AdmitWord(planned, ask.cost, moment.now, look.word);
      admitted &= decision.allowed() && decision.wait == Nanos(0);
    }
    looks[i] = look;
  }
  Decision joined{.remaining = Permits{UINT64_MAX}};
  if (!admitted) {
    if (!all_buckets) return false;
    for (std::size_t i = 0; i < asks.size(); ++i) {
      asks[i].limit->planned_.WithBucket([&](const auto& bucket) {
        taken[i].decision = bucket.TellLook(looks[i].trial, asks[i].cost);
      });
      taken[i].cost = Permits{0};
      taken[i].taken = moment.now;
      internal::Join(joined, taken[i].decision, i);
    }
    all = joined;
    return true;
  }
  for (std::size_t i = 0; i < asks.size(); ++i) {
    if (!KeyStates::Change(looks[i])) [[unlikely]] {
      for (std::size_t j = 0; j < i; ++j) Cancel(asks[j], taken[j], moment.now);
      return false;
    }
    const Decision& one = taken[i].decision;
    taken[i].cost = asks[i].cost;
    taken[i].taken = moment.now;
    // As internal::Join() has it for those who let it pass.
    if (one.remaining < joined.remaining) {
      joined.remaining = one.remaining;
      joined.limit_index = static_cast<std::uint16_t>(i);
    }
    joined.grace = std::max(joined.grace, one.grace);
    joined.wait = std::max(joined.wait, one.wait);
    joined.reset_after = std::max(joined.reset_after, one.reset_after);
  }
  all = joined;
  return true;
}

// A word that is known is changed whatever is decided: a limit that counts refusals changes it for
// these too.
Decision Ledger::TakeOne(const Ask& ask, Instant now) noexcept {
  const Timeline::Moment moment = timeline_->FollowClock(now);
  if (moment.ahead == Nanos(0) && !ask.limit->shelf_->has_records()) [[likely]] {
    const Planned& planned = ask.limit->planned_;
    KeyStates::Look look = ask.limit->shelf_->LookAt(planned.kind, ask.key);
    if (look.slot != nullptr) [[likely]] {
      const Decision decision = Shelf::AdmitWord(planned, ask.cost, moment.now, look.word);
      if (decision.wait == Nanos(0) && KeyStates::Change(look)) return decision;
    }
  }
  Reservation taken;
  return TakeAll({&ask, 1}, {&taken, 1}, now);
}

Decision Ledger::TakeAll(std::span<const Ask> asks, std::span<Reservation> taken,
                         Instant now) noexcept {
  WEIR_CHECK(asks.size() == taken.size());
  const Timeline::Moment moment = timeline_->FollowClock(now);
  Decision all;
  if (TakeFromWords(asks, taken, moment, all)) return all;
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
  all = internal::TakeParts(taken, peek, reserve, cancel);
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
