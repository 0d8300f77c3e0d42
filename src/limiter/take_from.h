// A decision from the word of a slot, where the limit is a plain bucket and the cost fits.
#pragma once

#include <atomic>
#include <cstdint>

#include "algorithm/bucket.h"
#include "base/opaque.h"
#include "table/slot.h"
#include "weir/decision.h"

namespace weir {

// At `tick`, for somebody whose own clock shows `asked`, which is the same or a little earlier.
// `otherwise(slot)` decides if the slot is not that of the key, or somebody else came first:
// nothing was changed then. What there is to say is worked out after the word is changed: nothing
// comes between reading and writing it. REQUIRES: bucket.Fits(cost)
template <typename Otherwise>
[[gnu::always_inline]] inline Decision TakeFrom(const algorithm::PlainBucket& bucket,
                                                table::AtomicSlot* slot, std::uint64_t tag,
                                                Permits cost, std::uint64_t tick,
                                                std::uint64_t asked,
                                                const Otherwise& otherwise) noexcept {
  slot = Opaque(slot);
  std::uint64_t word = slot->word().load(std::memory_order_acquire);
  // Behind the word, as in Table::TryUpdate(): the slot may have been taken over by another key.
  if (slot->tag() != tag) [[unlikely]] {
    return otherwise(*slot);
  }
  const algorithm::Bucket::Trial trial = bucket.TryFitting(word, cost, tick);
  const std::uint64_t full_at = tick + trial.after;
  if (!bucket.Admits(trial)) {
    // Read again: remembered until here, its numbers would take the registers of those who go on.
    const algorithm::PlainBucket& again = *Opaque(&bucket);
    return again.Refused(trial, full_at - again.capacity() - asked, word - asked);
  }
  slot = Opaque(slot);
  if (!slot->word().compare_exchange_strong(word, full_at, std::memory_order_acq_rel))
      [[unlikely]] {
    return otherwise(*slot);
  }
  return bucket.Allowed(trial, full_at - asked);
}

}  // namespace weir
