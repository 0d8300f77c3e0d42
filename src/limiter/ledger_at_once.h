// Taking from several keys in the fewest steps: the ledger's own file, a header so that whoever asks
// has it inlined.
//
// Nearly always the state of each limit is one word, the keys are known and nobody is to wait. Then
// all words are looked at, and if every limit admits the request they are changed, one
// compare-and-swap each. Whatever else comes up (a key that is new, another request in between, a
// limit that counts refusals) is for TakeAll(): until the first word is changed nothing is done,
// and what was taken by then is given back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "limiter/ledger.h"
#include "limiter/ledger_shelf.h"

namespace weir {

template <typename DecisionOf>
[[gnu::always_inline]] inline Ledger::AtOnce Ledger::TakeAtOnce(
    std::span<const Part> parts, std::span<const KeyHash> hashes, Instant now,
    const DecisionOf& decision_of) noexcept {
  constexpr AtOnce kNothing{.outcome = AtOnce::Outcome::kNothing};
  const Timeline::Moment moment = timeline_->FollowClock(now);
  if (moment.ahead != Nanos(0)) [[unlikely]] {
    return kNothing;
  }
  std::array<KeyStates::Look, kMostAtOnce> looks;
  AtOnce all;
  bool admitted = true;
  bool all_buckets = true;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part& part = parts[i];
    const Planned& planned = part.limit->planned_;
    KeyStates::Look& look = looks[i];
    look = words_->LookAt(planned.kind, part.KeyOf(hashes));
    if (look.slot == nullptr) [[unlikely]] {
      return kNothing;  // it may be on another shelf
    }
    Decision& decision = decision_of(i);
    if (planned.bucket != nullptr) [[likely]] {
      planned.WithBucket([&](const auto& bucket) {
        look.trial = bucket.Try(look.word, part.cost, bucket.TickAt(moment.now));
        bucket.Tell(look.trial, part.cost, decision);
      });
    } else {
      if (part.limit->shelf_->has_records() || planned.plan.counts_refusals()) return kNothing;
      decision = Shelf::AdmitWord(planned, part.cost, moment.now, look.word);
      all_buckets = false;
    }
    if (decision.wait != Nanos(0)) [[unlikely]] {
      return kNothing;
    }
    admitted &= decision.allowed();
    if (decision.remaining < all.remaining) {
      all.remaining = decision.remaining;
      all.least = static_cast<std::uint32_t>(i);
    }
  }
  if (!admitted) [[unlikely]] {
    if (!all_buckets) return kNothing;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      parts[i].limit->planned_.WithBucket([&](const auto& bucket) {
        bucket.TellLook(looks[i].trial, parts[i].cost, decision_of(i));
      });
    }
    all.outcome = AtOnce::Outcome::kDenied;
    return all;
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (KeyStates::Change(looks[i])) [[likely]] {
      continue;
    }
    for (std::size_t j = 0; j < i; ++j) {
      Reservation taken{decision_of(j), parts[j].cost, moment.now};
      Cancel({parts[j].limit, parts[j].KeyOf(hashes)}, taken, moment.now);
    }
    return kNothing;
  }
  return all;
}

}  // namespace weir
