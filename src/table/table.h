// State per key, for millions of keys, in a fixed amount of memory.
//
// One primitive changes it: Update(key, step) hands the old word in (0 for a key never seen), the
// step changes it or not, and the table makes that atomic. The table does not know what a word
// means; a `Tenancy` tells it, on the slow path only, which words are worth nothing any more.
//
//   line 0   [key|word] [key|word] [key|word] [key|word]     a key is in the line its hash picks, or
//   line 1   [key|word] [key|word] [  -     ] [  -     ]     in one of the next kProbe - 1 if that
//   ...                                                      was full when it came
//
// A slot is taken over when its word is forgotten (an entry that is full again is as good as none),
// never emptied. So a slot that was never used ends every search. When all slots in reach are live,
// the one that is closest to being forgotten has to go, and is counted: a flood of keys can push out
// only those who have hardly used anything, never a client that is deep in debt.
//
// Thread safety: everything may be called by any number of threads, and of processes that map the
// same file. Changing a word takes no lock. Adding a key takes one of 1024 small locks, so that no
// key is added twice; a process that dies holding one is noticed (Owner), and since every step of
// an addition leaves the table whole, nothing needs repair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "table/header.h"
#include "table/memory.h"
#include "table/slot.h"
#include "weir/units.h"

namespace weir::table {

// What the words mean, to the extent the table has to know. Asked only when a key is added.
class Tenancy {
 public:
  virtual ~Tenancy() = default;
  // Until the word says nothing any more; Nanos(0) if it does not now, Nanos::max() if it must stay.
  virtual Nanos ForgottenIn(std::uint16_t kind, std::uint64_t word, Instant now) const = 0;
  // The kind that keys are added as. Words of other kinds are from before a change of limits.
  virtual std::uint16_t current_kind() const = 0;
  // The word under the current kind that says what `word` says under `kind`.
  virtual std::uint64_t Renew(std::uint16_t kind, std::uint64_t word, Instant now) const = 0;
};

class Table {
 public:
  // How many lines a key may be away from its own.
  static constexpr std::size_t kProbe = 8;

  Table(Memory memory, const Tenancy& tenancy)
      : memory_(std::move(memory)), tenancy_(tenancy), lines_(memory_.lines()),
        line_count_(memory_.header().identity.geometry.lines) {}

  void Prefetch(const Key& key) const noexcept { __builtin_prefetch(&LineOf(key), 1); }

  // `step(word, kind)` may run several times; the last run counts. `kind` is the key's, or the
  // current one if that has changed meanwhile. `now` is for telling which other keys are forgotten.
  template <typename Step>
  auto Update(const Key& key, Instant now, const Step& step) noexcept {
    for (AtomicSlot& slot : LineOf(key).slots) {
      if (slot.tag() != key.tag) continue;
      std::uint64_t old = slot.word().load(std::memory_order_acquire);
      if (slot.tag() != key.tag) break;  // taken over between the two loads
      std::uint64_t word = old;
      auto answer = step(word, KindOf(key.tag));
      if (word == old || slot.word().compare_exchange_strong(old, word, std::memory_order_acq_rel)) {
        return answer;
      }
      break;
    }
    return UpdateSlowly(key, now, step);
  }

  // Runs `visit(slot)` on every slot in use; for counting and for carrying over.
  template <typename Visit>
  void ForEach(Visit visit) {
    for (std::size_t i = 0; i < line_count_ + kProbe - 1; ++i) {
      for (AtomicSlot& slot : lines_[i].slots) {
        if (slot.tag() != 0) visit(slot);
      }
    }
  }

  // Live keys that had to make room for others.
  [[nodiscard]] std::uint64_t evicted() const noexcept {
    return memory_.header().evicted.load(std::memory_order_relaxed);
  }
  [[nodiscard]] Memory& memory() noexcept { return memory_; }

  // The slot of a key, or null. Moves a key of an older kind to the current one on the way.
  AtomicSlot* Find(const Key& key, Instant now) noexcept;
  // Puts the key with `word` into a slot that is free, forgotten, or the closest to it, and returns
  // that; or null if the key is there already, or its kind is not the current one any more.
  AtomicSlot* Add(const Key& key, std::uint64_t word, Instant now) noexcept;
  [[nodiscard]] AtomicSlot& SlotAt(std::size_t number) const noexcept {
    return lines_[number / Line::kSlots].slots[number % Line::kSlots];
  }
  [[nodiscard]] std::size_t NumberOf(const AtomicSlot& slot) const noexcept {
    return static_cast<std::size_t>(&slot - lines_[0].slots);
  }

 private:
  [[nodiscard]] Line& LineOf(const Key& key) const noexcept {
    return lines_[static_cast<std::size_t>(Mul(key.place, line_count_) >> 64)];
  }

  // Everything but the one case that matters for speed.
  template <typename Step>
  [[gnu::noinline, gnu::cold]] auto UpdateSlowly(const Key& as_asked, Instant now,
                                                 const Step& step) noexcept {
    for (;;) {
      const std::uint16_t kind = tenancy_.current_kind();
      const Key key = WithKind(as_asked, kind);
      if (AtomicSlot* slot = Find(key, now)) {
        std::uint64_t old = slot->word().load(std::memory_order_acquire);
        if (slot->tag() != key.tag) continue;
        std::uint64_t word = old;
        auto answer = step(word, kind);
        if (word == old ||
            slot->word().compare_exchange_strong(old, word, std::memory_order_acq_rel)) {
          return answer;
        }
        continue;
      }
      std::uint64_t word = 0;
      auto answer = step(word, kind);
      if (word == 0) return answer;  // nothing worth a slot
      if (Add(key, word, now) != nullptr) return answer;
    }
  }

  // A slot that another key may have, and what it holds.
  struct Pick {
    AtomicSlot* slot = nullptr;
    Slot held;
    Nanos forgotten_in = Nanos::max();
  };
  Pick PickFor(const Key& key, std::uint64_t word, Instant now) noexcept;

  Memory memory_;
  const Tenancy& tenancy_;
  Line* lines_;
  std::uint64_t line_count_;
};

}  // namespace weir::table
