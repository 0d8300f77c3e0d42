// A keyed decision in the fewest steps, where all is as it nearly always is: the limit is a plain
// bucket, the state is the word of the slot, the key is known and in its own line, time does not
// go back by much, and nobody else changes the same word.
//
// Single decisions wait for memory, one after the other. What makes them fast is that a processor
// begins the next one while it waits for this one, as far as it can remember what it has begun: a
// few hundred instructions. So every instruction counts here, whether it waits or not, and all
// numbers lie on one line of the cache.
//
// Whatever is not as above is not decided here, and nothing was changed then.
#pragma once

#include <cstdint>
#include <optional>

#include "algorithm/bucket.h"
#include "limiter/take_from.h"
#include "limiter/timeline.h"
#include "table/table.h"
#include "weir/keyed_limiter.h"

namespace weir {

// `Owner` is who decides what is not decided here.
template <typename Owner>
class alignas(64) Lane {
 public:
  // Without a bucket, or with one that would have to mind how long a duration can be, the lane is
  // closed: it decides nothing.
  Lane(table::Table::Map map, std::uint16_t kind, TimelineState& timeline,
       const std::optional<algorithm::PlainBucket>& bucket, Owner& owner) noexcept
      : map_(map),
        bucket_(bucket && bucket->IsToldEasily() ? *bucket : algorithm::PlainBucket::Closed()),
        timeline_(&timeline),
        kind_(kind),
        owner_(&owner) {}

  // With an instant of the caller's. `otherwise(key)` decides what is not decided here; the last
  // thing that is done, so that nothing has to be kept on the stack for it.
  template <typename Otherwise>
  [[gnu::always_inline]] Decision Take(KeyHash hash, Permits cost, Instant now,
                                       const Otherwise& otherwise) const noexcept {
    // As Timeline::Follow() has it, where there is nothing to note or only that time went on.
    const auto asked = static_cast<std::uint64_t>(now.time_since_epoch().count());
    const std::int64_t latest = timeline_->latest_ns.load(std::memory_order_relaxed);
    auto tick = static_cast<std::uint64_t>(latest);
    const bool stands_still = tick - asked <= bucket_.capacity() &&
                              now.time_since_epoch() >= Nanos(0) &&
                              timeline_->set_back_ns.load(std::memory_order_relaxed) == 0;
    if (!stands_still) [[unlikely]] {
      if (!Timeline::GoesOn(*timeline_, latest, now)) return otherwise(KeyOf(hash));
      tick = asked;
    }
    return TakeAt(hash, cost, tick, asked, otherwise);
  }

  // At `tick`, for somebody whose clock shows `asked`. REQUIRES: it is not ahead of the tick, and
  // behind it by at most what a key is remembered
  template <typename Otherwise>
  [[gnu::always_inline]] Decision TakeAt(KeyHash hash, Permits cost, std::uint64_t tick,
                                         std::uint64_t asked,
                                         const Otherwise& otherwise) const noexcept {
    const table::Key key = KeyOf(hash);
    if (!bucket_.Fits(cost)) [[unlikely]] {
      return otherwise(key);
    }
    // One key in eleven is not in its own line, and most of those are in the one beside it: asked
    // for at once, it is there by the time that is known.
    map_.PrefetchBeside(key);
    table::AtomicSlot* slot = map_.Glance(key);
    if (slot == nullptr) [[unlikely]] {
      return otherwise(key);
    }
    return TakeFrom(bucket_, slot, key.tag, cost, tick, asked, [&](const table::AtomicSlot& s) {
      // The number of the line is worked out again: to remember it until here takes a register.
      return otherwise(table::Key{map_.NumberOf(s), key.tag});
    });
  }

  [[nodiscard]] Owner& owner() const noexcept { return *owner_; }

 private:
  // One key in 2^48 has another tag than that. It is not found here.
  [[nodiscard, gnu::always_inline]] table::Key KeyOf(KeyHash hash) const noexcept {
    return {map_.LineNumber(hash.low), (hash.high & ~table::kKindMask) | kind_};
  }

  table::Table::Map map_;
  algorithm::PlainBucket bucket_;
  TimelineState* timeline_;
  std::uint64_t kind_;
  // On the next line of the cache, for those who go beside the lane.
  Owner* owner_;
};

}  // namespace weir
