// Taking from several keys in the fewest steps: the ledger's own file, a header so that whoever
// asks has it inlined.
//
// Nearly always the state of each limit is one word, the keys are known and nobody is to wait. Then
// all words are looked at, and if every limit admits the request they are changed, one
// compare-and-swap each. Whatever else comes up (a key that is new, another request in between, a
// limit that counts refusals) is for TakeAll(): until the first word is changed nothing is done,
// and what was taken by then is given back.
#pragma once

#include <array>
#include <atomic>
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
  // A key as it was looked at, and what its word is to become.
  struct Seen {
    std::atomic<std::uint64_t>* word;
    std::uint64_t before;
    std::uint64_t after;
  };
  constexpr AtOnce kNothing{.outcome = AtOnce::Outcome::kNothing};
  const Timeline::Moment moment = timeline_->FollowClock(now);
  if (moment.ahead != Nanos(0)) [[unlikely]] {
    return kNothing;
  }
  const table::Table::Map map = words_->map();
  const std::uint64_t tick = ToNanos(moment.now);
  std::array<Seen, kMostAtOnce> all_seen;
  AtOnce all;
  bool admitted = true;
  bool all_buckets = true;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part& part = parts[i];
    const Planned& planned = part.limit->planned_;
    const KeyHash hash = part.KeyOf(hashes);
    const table::Key key = map.KeyOf(hash.low, hash.high, planned.kind);
    table::AtomicSlot* slot = map.Glance(key);
    if (slot == nullptr || slot->tag() != key.tag) [[unlikely]] {
      slot = map.LookAround(key);
      if (slot == nullptr) return kNothing;  // it is new, or on another shelf
    }
    Seen& seen = all_seen[i];
    seen.word = &slot->word();
    seen.before = seen.after = seen.word->load(std::memory_order_acquire);
    // Behind the word, as in Table::TryUpdate(). A word of 0 is forgotten, or on another shelf.
    if (slot->tag() != key.tag || seen.before == 0) [[unlikely]] {
      return kNothing;
    }
    Decision& decision = decision_of(i);
    if (planned.plain && planned.plain->Fits(part.cost)) [[likely]] {
      const algorithm::PlainBucket& bucket = *planned.plain;
      const algorithm::Bucket::Trial trial = bucket.TryFitting(seen.before, part.cost, tick);
      seen.after = tick + trial.after;
      if (!bucket.Admits(trial)) [[unlikely]] {
        admitted = false;
        continue;  // what there is to say then is worked out below
      }
      decision = bucket.Allowed(trial, trial.after);
    } else if (planned.bucket != nullptr) {
      planned.WithBucket([&](const auto& bucket) {
        const auto trial = bucket.Try(seen.after, part.cost, bucket.TickAt(moment.now));
        bucket.Tell(trial, part.cost, decision);
      });
      admitted &= decision.allowed();
      if (decision.wait != Nanos(0)) return kNothing;
    } else {
      if (part.limit->shelf_->has_records() || planned.plan.counts_refusals()) return kNothing;
      decision = Shelf::AdmitWord(planned, part.cost, moment.now, seen.after);
      if (decision.wait != Nanos(0)) return kNothing;
      admitted &= decision.allowed();
      all_buckets = false;
    }
    if (decision.remaining < all.remaining) {
      all.remaining = decision.remaining;
      all.least = static_cast<std::uint32_t>(i);
    }
  }
  if (!admitted) [[unlikely]] {
    if (!all_buckets) return kNothing;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      parts[i].limit->planned_.WithBucket([&](const auto& bucket) {
        std::uint64_t word = all_seen[i].before;
        const auto trial = bucket.Try(word, parts[i].cost, bucket.TickAt(moment.now));
        bucket.TellLook(trial, parts[i].cost, decision_of(i));
      });
    }
    all.outcome = AtOnce::Outcome::kDenied;
    return all;
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    Seen& seen = all_seen[i];
    if (seen.word->compare_exchange_strong(seen.before, seen.after, std::memory_order_acq_rel))
        [[likely]] {
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
