// What the table is made of: slots of 16 bytes, four to a cache line.
//
//      tag: 48 bits of the key's hash, 16 bits of kind     word: the state, or where to find it
//     +---------------------------------------------------+----------------------------------+
//
// A tag of 0 is a slot that was never used. The line a key belongs to is picked by the other half of
// its hash, so that two keys are told apart by 48 bits and the bits of the line's number: at ten
// million keys 70 bits, or one chance in ten million that any two of them share a slot.
//
// A word changes alone, by an 8-byte compare-and-swap. A slot changes hands by one of 16 bytes, tag
// and word in one step: whoever was about to change the old word finds another one there.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/wide_math.h"

namespace weir::table {

struct Slot {
  std::uint64_t tag = 0;
  std::uint64_t word = 0;

  bool operator==(const Slot&) const = default;
};

class alignas(16) AtomicSlot {
 public:
  [[nodiscard]] std::uint64_t tag() const noexcept { return tag_.load(std::memory_order_acquire); }
  std::atomic<std::uint64_t>& word() noexcept { return word_; }

  // Reads both halves as they were at one moment, as far as anybody can tell.
  [[nodiscard]] Slot Load() const noexcept {
    for (;;) {
      const std::uint64_t tag = this->tag();
      const std::uint64_t word = word_.load(std::memory_order_acquire);
      if (this->tag() == tag) return {tag, word};
    }
  }

  // Both halves in one step.
  bool Swap(Slot expected, Slot desired) noexcept {
    const auto whole = [](Slot slot) { return Uint128{slot.word} << 64 | slot.tag; };
    return __sync_bool_compare_and_swap(reinterpret_cast<Uint128*>(this), whole(expected),
                                        whole(desired));
  }

 private:
  std::atomic<std::uint64_t> tag_;
  std::atomic<std::uint64_t> word_;
};

struct alignas(64) Line {
  static constexpr std::size_t kSlots = 4;
  AtomicSlot slots[kSlots];
};

static_assert(sizeof(AtomicSlot) == 16 && sizeof(Line) == 64);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "words are shared by processes");

// A key as the table knows it.
struct Key {
  std::uint64_t place;  // picks the line
  std::uint64_t tag;    // never 0
};

inline constexpr std::uint64_t kKindMask = 0xFFFF;

// `kind` tells keys apart that come from the same hash, such as one client under two limits.
constexpr Key MakeKey(std::uint64_t low, std::uint64_t high, std::uint16_t kind) noexcept {
  const std::uint64_t print = high & ~kKindMask;
  return {low, (print != 0 ? print : kKindMask + 1) | kind};
}
constexpr std::uint16_t KindOf(std::uint64_t tag) noexcept {
  return static_cast<std::uint16_t>(tag & kKindMask);
}
constexpr Key WithKind(Key key, std::uint16_t kind) noexcept {
  return {key.place, (key.tag & ~kKindMask) | kind};
}
constexpr bool SameKey(std::uint64_t tag, std::uint64_t other) noexcept {
  return ((tag ^ other) & ~kKindMask) == 0;
}

}  // namespace weir::table
