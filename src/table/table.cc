#include "table/table.h"

#include "table/owner.h"

namespace weir::table {

AtomicSlot* Table::Find(const Key& key, Instant now) noexcept {
  for (std::size_t i = 0; i < kProbe; ++i) {
    for (AtomicSlot& slot : map_.LineOf(key, i).slots) {
      const std::uint64_t tag = slot.tag();
      if (tag == key.tag) return &slot;
      if (tag == 0) return nullptr;
      if (!SameKey(tag, key.tag)) continue;
      // The same key under another limit: an older one, or we are late and shall start over.
      const std::uint16_t kind = KindOf(key.tag);
      if (tenancy_.CurrentOf(kind) != kind) return nullptr;
      const Slot old = slot.Load();
      if (old.tag != tag) return Find(key, now);
      if (!slot.Swap(old, {key.tag, tenancy_.Renew(KindOf(tag), old.word, kind, now)})) {
        return Find(key, now);
      }
      return &slot;
    }
  }
  return nullptr;
}

AtomicSlot* Table::FindOfAnyKind(const Key& key) const noexcept {
  for (std::size_t i = 0; i < kProbe; ++i) {
    for (AtomicSlot& slot : map_.LineOf(key, i).slots) {
      const std::uint64_t tag = slot.tag();
      if (tag == 0) return nullptr;
      if (SameKey(tag, key.tag)) return &slot;
    }
  }
  return nullptr;
}

// For a key that is not there: a slot that was never used, if there is one near by, so that keys
// which come and go keep their places; then one that is forgotten; then the one that is forgotten
// soonest. Never one behind a slot that was never used: nobody would look for it there.
Table::Pick Table::PickFor(const Key& key, std::uint64_t word, Instant now) noexcept {
  constexpr std::size_t kNear = 2;  // lines
  Pick best;
  for (std::size_t i = 0; i < kProbe; ++i) {
    for (AtomicSlot& slot : map_.LineOf(key, i).slots) {
      const Slot held = slot.Load();
      if (held.tag == 0) {
        return i < kNear || best.forgotten_in > Nanos(0) ? Pick{&slot, held, Nanos(0)} : best;
      }
      const Nanos left = tenancy_.ForgottenIn(KindOf(held.tag), held.word, now);
      // Of equals, one with another word: if a slot changes hands with the same word, somebody who
      // was about to change it cannot tell, and charges the wrong key.
      const bool better = left < best.forgotten_in || (left == best.forgotten_in &&
                                                       best.held.word == word && held.word != word);
      if (better) best = {&slot, held, left};
    }
    if (i + 1 >= kNear && best.forgotten_in == Nanos(0)) return best;
  }
  return best;
}

AtomicSlot* Table::Add(const Key& key, std::uint64_t word, Instant now) noexcept {
  // One lock for all that may be adding the same key.
  Header& header = memory_.header();
  const OwnerLock lock(header.locks[key.line % Header::kLocks], memory_.owner());
  for (Backoff backoff;; backoff.Pause()) {
    if (Find(key, now) != nullptr) return nullptr;
    if (tenancy_.CurrentOf(KindOf(key.tag)) != KindOf(key.tag)) return nullptr;
    const Pick pick = PickFor(key, word, now);
    if (pick.slot == nullptr || !pick.slot->Swap(pick.held, {key.tag, word})) continue;
    if (pick.forgotten_in > Nanos(0)) header.evicted.fetch_add(1, std::memory_order_relaxed);
    return pick.slot;
  }
}

}  // namespace weir::table
