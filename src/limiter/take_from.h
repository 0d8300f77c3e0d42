// A decision from the word of a slot, where the limit is a plain bucket and the cost fits.
#pragma once

#include <atomic>
#include <cstdint>

#include "algorithm/bucket.h"
#include "table/slot.h"
#include "weir/decision.h"

namespace weir {

// `otherwise()` decides if the slot is not that of the key, or somebody else came first: nothing was
// changed then. What there is to say is worked out after the word is changed: nothing comes between
// reading and writing it. REQUIRES: bucket.Fits(cost)
template <typename Otherwise>
[[nodiscard, gnu::always_inline]] inline Decision TakeFrom(
    const algorithm::PlainBucket& bucket, table::AtomicSlot& slot, std::uint64_t tag, Permits cost,
    std::uint64_t tick, std::uint64_t behind, const Otherwise& otherwise) noexcept {
  std::uint64_t word = slot.word().load(std::memory_order_acquire);
  // Behind the word, as in Table::TryUpdate(): the slot may have been taken over by another key.
  if (slot.tag() != tag) [[unlikely]] {
    return otherwise();
  }
  const algorithm::Bucket::Trial trial = bucket.TryFitting(word, cost, tick);
  if (!bucket.Admits(trial)) return bucket.Refused(trial, behind);
  if (!slot.word().compare_exchange_strong(word, tick + trial.after, std::memory_order_acq_rel))
      [[unlikely]] {
    return otherwise();
  }
  return bucket.Allowed(trial, behind);
}

}  // namespace weir
