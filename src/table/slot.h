// What the table is made of: slots of 16 bytes, four to a cache line.
//
//      tag: 48 bits of the key's hash, 16 bits of kind     word: the state, or where to find it
//     +---------------------------------------------------+----------------------------------+
//
// A tag of 0 is a slot that was never used. The line a key belongs to is picked by the other half
// of its hash, so that two keys are told apart by 48 bits and the bits of the line's number: at ten
// million keys 70 bits, or one chance in ten million that any two of them share a slot.
//
// A word changes alone, by an 8-byte compare-and-swap. A slot changes hands by one of 16 bytes, tag
// and word in one step: whoever was about to change the old word finds another one there.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/branchless.h"
#include "base/wide_math.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif
// Sixteen bytes are read at once below, which the thread sanitizer does not know to be atomic.
#if defined(__SANITIZE_THREAD__)
#define WEIR_THREAD_SANITIZER
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WEIR_THREAD_SANITIZER
#endif
#endif

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
    const bool swapped = __sync_bool_compare_and_swap(reinterpret_cast<Uint128*>(this),
                                                      whole(expected), whole(desired));
#if defined(WEIR_THREAD_SANITIZER)
    // It keeps books by address, and the last change may have been to the word alone.
    static_cast<void>(word_.load(std::memory_order_acquire));
#endif
    return swapped;
  }

 private:
  std::atomic<std::uint64_t> tag_;
  std::atomic<std::uint64_t> word_;
};

struct alignas(64) Line {
  static constexpr std::size_t kSlots = 4;
  AtomicSlot slots[kSlots];

  // Which slots have this tag: SlotAt() of it is the first; 0 if none has. Without branches: which
  // slot it is cannot be predicted, and a processor that guesses wrong waits for the memory instead
  // of asking for more of it. And in few steps, because all that wait for a line are kept in mind
  // by the processor, which then has no room for the next request.
  [[nodiscard, gnu::always_inline]] unsigned Match(std::uint64_t tag) const noexcept {
#if defined(__SSE2__) && !defined(WEIR_THREAD_SANITIZER)
    // Halves of tags are compared, 32 bits each, and then squeezed together: four bits per slot.
    const auto* pairs = reinterpret_cast<const __m128i*>(slots);
    const __m128i wanted = _mm_set1_epi64x(static_cast<long long>(tag));
    const __m128i low = _mm_unpacklo_epi64(_mm_load_si128(pairs), _mm_load_si128(pairs + 1));
    const __m128i high = _mm_unpacklo_epi64(_mm_load_si128(pairs + 2), _mm_load_si128(pairs + 3));
    const __m128i halves =
        _mm_packs_epi32(_mm_cmpeq_epi32(low, wanted), _mm_cmpeq_epi32(high, wanted));
    std::atomic_signal_fence(std::memory_order_acquire);
    const auto bits = static_cast<unsigned>(_mm_movemask_epi8(halves));
    return bits & bits >> 2 & 0x1111U;
#else
    return static_cast<unsigned>(
        AsNumber(slots[0].tag() == tag) | AsNumber(slots[1].tag() == tag) << 4 |
        AsNumber(slots[2].tag() == tag) << 8 | AsNumber(slots[3].tag() == tag) << 12);
#endif
  }
  // Which slots may have this tag, one bit each: those with the same upper half. In half the steps,
  // and wrong once in a billion times: whoever asks looks at the whole tag of the slot before it
  // counts, and at the whole line with Match() if it was the wrong one.
  [[nodiscard, gnu::always_inline]] unsigned Glance(std::uint64_t tag) const noexcept {
#if defined(__SSE2__) && !defined(WEIR_THREAD_SANITIZER)
    const auto* pairs = reinterpret_cast<const __m128i*>(slots);
    const __m128i wanted = _mm_shuffle_epi32(_mm_cvtsi64_si128(static_cast<long long>(tag)), 0x55);
    const __m128i low = _mm_unpacklo_epi32(_mm_load_si128(pairs), _mm_load_si128(pairs + 1));
    const __m128i high = _mm_unpacklo_epi32(_mm_load_si128(pairs + 2), _mm_load_si128(pairs + 3));
    const __m128i uppers = _mm_unpackhi_epi64(low, high);
    std::atomic_signal_fence(std::memory_order_acquire);
    return static_cast<unsigned>(
        _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(uppers, wanted))));
#else
    const auto same = [&](std::size_t i) { return AsNumber(slots[i].tag() >> 32 == tag >> 32); };
    return static_cast<unsigned>(same(0) | same(1) << 1 | same(2) << 2 | same(3) << 3);
#endif
  }
  // The first of those that Glance() found. REQUIRES: glance != 0
  [[gnu::always_inline]] AtomicSlot& SlotAtBit(unsigned glance) noexcept {
    const unsigned offset = static_cast<unsigned>(std::countr_zero(glance)) * sizeof(AtomicSlot);
    return *reinterpret_cast<AtomicSlot*>(reinterpret_cast<std::byte*>(slots) + offset);
  }
  // REQUIRES: match != 0
  [[gnu::always_inline]] AtomicSlot& SlotAt(unsigned match) noexcept {
    // Four bits per slot of 16 bytes: the slot's offset is the bit times four.
    const auto offset = std::ptrdiff_t{4} * std::countr_zero(match);
    return *reinterpret_cast<AtomicSlot*>(reinterpret_cast<std::byte*>(slots) + offset);
  }
};

static_assert(sizeof(AtomicSlot) == 16 && sizeof(Line) == 64);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "words are shared by processes");

// A key as a table knows it.
struct Key {
  std::uint64_t line;  // the number of the line it belongs to
  std::uint64_t tag;   // never 0
};

inline constexpr std::uint64_t kKindMask = 0xFFFF;

// `kind` tells keys apart that come from the same hash, such as one client under two limits.
constexpr std::uint64_t MakeTag(std::uint64_t hash, std::uint16_t kind) noexcept {
  const std::uint64_t print = hash & ~kKindMask;
  return (print != 0 ? print : kKindMask + 1) | kind;
}
constexpr std::uint16_t KindOf(std::uint64_t tag) noexcept {
  return static_cast<std::uint16_t>(tag & kKindMask);
}
constexpr Key WithKind(Key key, std::uint16_t kind) noexcept {
  return {key.line, (key.tag & ~kKindMask) | kind};
}
constexpr bool SameKey(std::uint64_t tag, std::uint64_t other) noexcept {
  return ((tag ^ other) & ~kKindMask) == 0;
}

}  // namespace weir::table
