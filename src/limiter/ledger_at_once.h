// Taking from several keys in the fewest steps: the ledger's own file, a header so that whoever
// asks has it inlined.
//
// Nearly always the state of each limit is one word, the keys are known and nobody is to wait. Then
// all words are looked at, and if every limit admits the request they are changed, one
// compare-and-swap each. Whatever else comes up (a key that is new, another request in between, a
// limit that counts refusals) is for TakeAll(): until the first word is changed nothing is done,
// and what was taken by then is given back.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "limiter/ledger.h"
#include "limiter/ledger_shelf.h"

namespace weir {

[[gnu::always_inline]] inline Ledger::Aim Ledger::AimAt(
    const Part& part, std::span<const KeyHash> hashes) const noexcept {
  const table::Table::Map map = words_->map();
  const KeyHash hash = part.KeyOf(hashes);
  const table::Key key = map.KeyOf(hash.low, hash.high, part.kind);
  map.Prefetch(key);
  return {&map.LineOf(key, 0), key.tag};
}

template <typename From>
[[gnu::always_inline]] inline Ledger::AtOnce Ledger::TakeAtOnce(From from, Instant now) noexcept {
  constexpr AtOnce kNothing{.outcome = AtOnce::Outcome::kNothing};
  const Timeline::Moment moment = timeline_->FollowClock(now);
  if (moment.ahead != Nanos(0)) [[unlikely]] {
    return kNothing;
  }
  const std::uint64_t tick = ToNanos(moment.now);
  std::array<Seen, kMostAtOnce> all_seen;
  Seen* seen = all_seen.data();
  const Aim* aim = from.aims();
  std::size_t i = 0;
  AtOnce all;
  bool admitted = true;
  for (const Part& part : from.parts()) {
    table::AtomicSlot* slot = nullptr;
    if (const unsigned glance = aim->line->Glance(aim->tag); glance != 0) [[likely]] {
      slot = &aim->line->SlotAtBit(glance);
    } else {
      slot = LookAround(part, from.hashes());
      if (slot == nullptr) return kNothing;  // it is new, or on another shelf
    }
    const std::uint64_t before = slot->word().load(std::memory_order_acquire);
    // Behind the word, as in Table::TryUpdate(); a glance may be wrong, too.
    if (slot->tag() != aim->tag) return kNothing;
    ++aim;
    seen->word = &slot->word();
    seen->before = before;
    Decision& decision = from.DecisionOf(i++);
    if (before == 0) return kNothing;  // forgotten, or on another shelf
    if (part.plain != nullptr) [[likely]] {
      const algorithm::Bucket::Trial trial = part.plain->TryFitting(before, part.cost, tick);
      seen->after = tick + trial.after;
      ++seen;
      if (!part.plain->Admits(trial)) [[unlikely]] {
        admitted = false;
        continue;  // what there is to say then is worked out below
      }
      decision = part.plain->Allowed(trial, trial.after);
    } else {
      seen->after = before;
      if (!AdmitAtOnce(part, moment.now, seen->after, decision)) return kNothing;
      ++seen;
      admitted &= decision.allowed();
    }
    if (decision.remaining < all.remaining) {
      all.remaining = decision.remaining;
      all.least = static_cast<std::uint32_t>(i - 1);
    }
  }
  if (!admitted) return RefuseAtOnce(from, all_seen.data(), moment.now);
  for (Seen* next = all_seen.data(); next != seen; ++next) {
    if (!next->word->compare_exchange_strong(next->before, next->after,
                                             std::memory_order_acq_rel)) {
      GiveBackFirst(static_cast<std::size_t>(next - all_seen.data()), from, moment.now);
      return kNothing;
    }
  }
  return all;
}

// What each has to say if that was but a look.
template <typename From>
[[gnu::noinline]] Ledger::AtOnce Ledger::RefuseAtOnce(From from, const Seen* seen,
                                                      Instant now) noexcept {
  const std::span<const Part> parts = from.parts();
  const bool all_buckets = std::all_of(parts.begin(), parts.end(), [](const Part& part) {
    return part.limit->planned_.bucket != nullptr;
  });
  if (!all_buckets) return {.outcome = AtOnce::Outcome::kNothing};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].limit->planned_.WithBucket([&](const auto& bucket) {
      std::uint64_t word = seen[i].before;
      const auto trial = bucket.Try(word, parts[i].cost, bucket.TickAt(now));
      from.DecisionOf(i) = bucket.TellLook(trial, parts[i].cost);
    });
  }
  return {.outcome = AtOnce::Outcome::kDenied};
}

template <typename From>
[[gnu::noinline]] void Ledger::GiveBackFirst(std::size_t count, From from, Instant now) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const Part& part = from.parts()[i];
    Reservation taken{from.DecisionOf(i), part.cost, now};
    Cancel({part.limit, part.KeyOf(from.hashes())}, taken, now);
  }
}

}  // namespace weir
