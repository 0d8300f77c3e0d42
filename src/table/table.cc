#include "table/table.h"

#include "table/owner.h"

namespace weir::table {

AtomicSlot* Table::Find(const Key& key, Instant now) noexcept {
  Line* line = &LineOf(key);
  for (std::size_t i = 0; i < kProbe; ++i) {
    for (AtomicSlot& slot : line[i].slots) {
      const std::uint64_t tag = slot.tag();
      if (tag == key.tag) return &slot;
      if (tag == 0) return nullptr;
      if (!SameKey(tag, key.tag)) continue;
      // The same key under another limit: an older one, or we are late and shall start over.
      if (KindOf(key.tag) != tenancy_.current_kind()) return nullptr;
      const Slot old = slot.Load();
      if (old.tag != tag) return Find(key, now);
      if (!slot.Swap(old, {key.tag, tenancy_.Renew(KindOf(tag), old.word, now)})) {
        return Find(key, now);
      }
      return &slot;
    }
  }
  return nullptr;
}

// For a key that is not there: the first slot that is free or forgotten, or else the one that is
// forgotten soonest.
Table::Pick Table::PickFor(const Key& key, std::uint64_t word, Instant now) noexcept {
  Line* line = &LineOf(key);
  Pick best;
  for (std::size_t i = 0; i < kProbe; ++i) {
    for (AtomicSlot& slot : line[i].slots) {
      const Slot held = slot.Load();
      const Nanos left =
          held.tag == 0 ? Nanos(0) : tenancy_.ForgottenIn(KindOf(held.tag), held.word, now);
      // A slot should not change hands with the same word: its old owner could not tell.
      if (left >= best.forgotten_in || (held.word == word && best.slot != nullptr)) continue;
      best = {&slot, held, left};
      if (left == Nanos(0) && held.word != word) return best;
    }
  }
  return best;
}

AtomicSlot* Table::Add(const Key& key, std::uint64_t word, Instant now) noexcept {
  // One lock for all that may be adding the same key.
  const auto number = static_cast<std::size_t>(&LineOf(key) - lines_);
  Header& header = memory_.header();
  const OwnerLock lock(header.locks[number % Header::kLocks], memory_.owner());
  for (Backoff backoff;; backoff.Pause()) {
    if (Find(key, now) != nullptr || tenancy_.current_kind() != KindOf(key.tag)) return nullptr;
    const Pick pick = PickFor(key, word, now);
    if (pick.slot == nullptr || !pick.slot->Swap(pick.held, {key.tag, word})) continue;
    if (pick.forgotten_in > Nanos(0)) header.evicted.fetch_add(1, std::memory_order_relaxed);
    return pick.slot;
  }
}

}  // namespace weir::table
