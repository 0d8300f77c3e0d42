// State per key, for millions of keys, in a fixed amount of memory.
//
// One primitive changes it: Update(key, step) hands the old word in (0 for a key never seen), the
// step changes it or not, and the table makes that atomic. The table does not know what a word
// means; a `Tenancy` tells it, on the slow path only, which words are worth nothing any more.
//
//   line 0   [key|word] [key|word] [key|word] [key|word]     a key is in the line its hash picks,
//   or line 1   [key|word] [key|word] [  -     ] [  -     ]     in one of kProbe - 1 others near it
//   if
//   ...                                                      that was full when the key came
//
// A slot is taken over when its word is forgotten (an entry that is full again is as good as none),
// never emptied. So a slot that was never used ends every search. When all slots in reach are live,
// the one that is closest to being forgotten has to go, and is counted: a flood of keys can push
// out only those who have hardly used anything, never a client that is deep in debt.
//
// Thread safety: everything may be called by any number of threads, and of processes that map the
// same file. Changing a word takes no lock. Adding a key takes one of 1024 small locks, so that no
// key is added twice; a process that dies holding one is noticed (Owner), and since every step of
// an addition leaves the table whole, nothing needs repair.
#pragma once

#include <algorithm>
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
  // Until the word says nothing any more; Nanos(0) if it does not now, Nanos::max() if it must
  // stay.
  virtual Nanos ForgottenIn(std::uint16_t kind, std::uint64_t word, Instant now) const = 0;
  // The kind that a key asked for as `kind` is kept as: the same, unless limits have changed since.
  // A key found under any other kind is from before a change of its limit.
  virtual std::uint16_t CurrentOf(std::uint16_t kind) const = 0;
  // The word under the kind `to` that says what `word` says under `from`.
  virtual std::uint64_t Renew(std::uint16_t from, std::uint64_t word, std::uint16_t to,
                              Instant now) const = 0;
};

class Table {
 public:
  // How many lines a key may be in.
  // Far enough that a table with as many live keys as it was made for has room for all of them; how
  // far they really are is a line or two.
  static constexpr std::size_t kProbe = 32;

  Table(Memory memory, const Tenancy& tenancy)
      : memory_(std::move(memory)),
        tenancy_(tenancy),
        lines_(memory_.lines()),
        line_count_(memory_.header().identity.geometry.lines),
        map_(lines_, line_count_) {}

  // Where keys are. A value of its own: in a row of decisions it stays in registers.
  class Map {
   public:
    Map(Line* lines, std::uint64_t count) : lines_(lines), count_(count) {}

    [[nodiscard, gnu::always_inline]] Key KeyOf(std::uint64_t low, std::uint64_t high,
                                                std::uint16_t kind) const noexcept {
      return {LineNumber(low), MakeTag(high, kind)};
    }
    [[nodiscard, gnu::always_inline]] std::uint64_t LineNumber(std::uint64_t low) const noexcept {
      return static_cast<std::uint64_t>(Mul(low, count_) >> 64);
    }
    // The lines a key may be in, its own first. The second is the other half of the 128 bytes that
    // the processor fetches together.
    [[nodiscard, gnu::always_inline]] Line& LineOf(const Key& key,
                                                   std::size_t probe) const noexcept {
      return lines_[(key.line ^ (probe & 1)) + (probe & ~std::size_t{1})];
    }
    [[gnu::always_inline]] void Prefetch(const Key& key) const noexcept {
      __builtin_prefetch(&lines_[key.line], 1);
    }
    // The slot of a key in its own line; null if it is not there, and then the next line is on its
    // way.
    [[nodiscard, gnu::always_inline]] AtomicSlot* Look(const Key& key) const noexcept {
      Line& line = lines_[key.line];
      const unsigned found = line.Match(key.tag);
      if (found != 0) [[likely]] {
        return &line.SlotAt(found);
      }
      PrefetchBeside(key);
      return nullptr;
    }
    // A guess at what Look() would say, in fewer steps (Line::Glance). For whoever looks at the tag
    // of the slot anyway, as TryUpdate() does.
    [[nodiscard, gnu::always_inline]] AtomicSlot* Glance(const Key& key) const noexcept {
      Line& line = lines_[key.line];
      const unsigned found = line.Glance(key.tag);
      return found != 0 ? &line.SlotAtBit(found) : nullptr;
    }
    // The same in the line beside its own, where most of those are that are not there.
    [[nodiscard, gnu::always_inline]] AtomicSlot* GlanceBeside(const Key& key) const noexcept {
      Line& line = LineOf(key, 1);
      const unsigned found = line.Glance(key.tag);
      return found != 0 ? &line.SlotAtBit(found) : nullptr;
    }
    // Asks for the line beside that of a key.
    [[gnu::always_inline]] void PrefetchBeside(const Key& key) const noexcept {
      __builtin_prefetch(&LineOf(key, 1), 1);
    }
    // And for the one behind it, where a third of those are that are not in their own.
    [[gnu::always_inline]] void PrefetchNearby(const Key& key) const noexcept {
      PrefetchBeside(key);
      __builtin_prefetch(&LineOf(key, 2), 1);
    }
    // The same as Look() in all lines that a key may be in, or in all but its own.
    [[nodiscard]] AtomicSlot* LookAround(const Key& key, std::size_t first = 0) const noexcept {
      const auto is_last = [](const Line& line) {  // nothing lies behind a slot that is free
        return line.slots[Line::kSlots - 1].tag() == 0;
      };
      if (first > 0 && is_last(LineOf(key, 0))) return nullptr;
      for (std::size_t probe = first; probe < kProbe; ++probe) {
        Line& line = LineOf(key, probe);
        if (const unsigned found = line.Match(key.tag); found != 0) return &line.SlotAt(found);
        if (is_last(line)) break;
      }
      return nullptr;
    }
    // The number of the line that a slot lies in.
    [[nodiscard, gnu::always_inline]] std::uint64_t NumberOf(
        const AtomicSlot& slot) const noexcept {
      return static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(&slot) -
                                        reinterpret_cast<const std::byte*>(lines_)) /
             sizeof(Line);
    }

   private:
    Line* lines_;
    std::uint64_t count_;
  };
  [[nodiscard]] Map map() const noexcept { return map_; }

  // `step(word, kind)` may run several times; the last run counts. `kind` is the key's, or what
  // that has become meanwhile. `now` is for telling which other keys are forgotten.
  template <typename Step>
  void Update(const Key& as_asked, Instant now, const Step& step) noexcept {
    for (;;) {
      const std::uint16_t kind = tenancy_.CurrentOf(KindOf(as_asked.tag));
      const Key key = WithKind(as_asked, kind);
      const auto step_of_kind = [&](std::uint64_t& word) { step(word, kind); };
      if (AtomicSlot* slot = Find(key, now)) {
        if (TryUpdate(*slot, key.tag, step_of_kind)) return;
        continue;
      }
      std::uint64_t word = 0;
      step(word, kind);
      if (word == 0) {  // nothing worth a slot
        if (tenancy_.CurrentOf(kind) == kind) return;
        continue;  // it may be there under the limit that has just been set
      }
      if (Add(key, word, now) != nullptr) return;
    }
  }

  // For the one case that matters for speed, Update() comes in two steps that may be apart: finding
  // the slot (Map::Look), and changing its word (false if somebody else did at the same time). If
  // either fails, Update() does it all.
  template <typename Step>
  [[gnu::always_inline]] static bool TryUpdate(AtomicSlot& slot, std::uint64_t tag,
                                               const Step& step) noexcept {
    std::uint64_t old = slot.word().load(std::memory_order_acquire);
    std::uint64_t word = old;
    step(word);
    // The tag is looked at behind the word: the slot may have been taken over by another key.
    return slot.tag() == tag && (word == old || slot.word().compare_exchange_strong(
                                                    old, word, std::memory_order_acq_rel));
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

  // The same on at most `most` lines, spread evenly: an estimate for a bounded price. Returns how
  // many slots were looked at. REQUIRES: most > 0.
  template <typename Visit>
  std::size_t ForEachOfSome(std::size_t most, Visit visit) {
    const std::size_t lines = line_count_ + kProbe - 1;
    const std::size_t some = std::min(lines, most);
    for (std::size_t i = 0; i < some; ++i) {
      for (AtomicSlot& slot : lines_[i * lines / some].slots) {
        if (slot.tag() != 0) visit(slot);
      }
    }
    return some * Line::kSlots;
  }

  // Live keys that had to make room for others.
  [[nodiscard]] std::uint64_t evicted() const noexcept {
    return memory_.header().evicted.load(std::memory_order_relaxed);
  }
  [[nodiscard]] Memory& memory() noexcept { return memory_; }

  // The slot of a key, or null. Moves a key of an older kind to its own on the way.
  AtomicSlot* Find(const Key& key, Instant now) noexcept;
  // The slot of a key of whatever kind, left as it is, or null.
  [[nodiscard]] AtomicSlot* FindOfAnyKind(const Key& key) const noexcept;
  // Puts the key with `word` into a slot that is free, forgotten, or the closest to it, and returns
  // that; or null if the key is there already, or its kind is not current any more.
  AtomicSlot* Add(const Key& key, std::uint64_t word, Instant now) noexcept;
  [[nodiscard]] std::size_t slot_count() const noexcept {
    return (line_count_ + kProbe - 1) * Line::kSlots;
  }
  [[nodiscard]] AtomicSlot& SlotAt(std::size_t number) const noexcept {
    return lines_[number / Line::kSlots].slots[number % Line::kSlots];
  }
  [[nodiscard]] std::size_t NumberOf(const AtomicSlot& slot) const noexcept {
    return static_cast<std::size_t>(&slot - lines_[0].slots);
  }

 private:
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
  Map map_;
};

}  // namespace weir::table
