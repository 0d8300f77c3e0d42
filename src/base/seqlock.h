// A small value that is read all the time, without locks, and written hardly ever.
//
// Readers copy it and start over if a writer came in between. Writers exclude each other.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

namespace weir {

template <typename T>
class SeqLocked {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(std::uint64_t) == 0);
  static constexpr std::size_t kWords = sizeof(T) / sizeof(std::uint64_t);
  using Words = std::array<std::uint64_t, kWords>;

 public:
  explicit SeqLocked(const T& value) { Store(value); }

  [[nodiscard]] T Load() const noexcept {
    for (;;) {
      if (const std::optional<T> copy = TryLoad()) return *copy;
    }
  }
  // Nothing if a writer came in between.
  [[nodiscard, gnu::always_inline]] std::optional<T> TryLoad() const noexcept {
    const std::uint64_t before = sequence_.load(std::memory_order_acquire);
    const Words copy = Copy(std::make_index_sequence<kWords>());
    if (before % 2 != 0 || sequence_.load(std::memory_order_relaxed) != before) [[unlikely]] {
      return std::nullopt;
    }
    return std::bit_cast<T>(copy);
  }

  // REQUIRES: no other writer at the same time.
  void Store(const T& value) noexcept {
    const auto copy = std::bit_cast<Words>(value);
    sequence_.fetch_add(1, std::memory_order_acq_rel);  // odd: a write is under way
    for (std::size_t i = 0; i < kWords; ++i) words_[i].store(copy[i], std::memory_order_release);
    sequence_.fetch_add(1, std::memory_order_release);
  }

 private:
  // Without a loop, so that the copy stays in registers.
  template <std::size_t... Index>
  [[nodiscard, gnu::always_inline]] Words Copy(std::index_sequence<Index...>) const noexcept {
    return {words_[Index].load(std::memory_order_acquire)...};
  }

  std::atomic<std::uint64_t> sequence_{0};
  std::array<std::atomic<std::uint64_t>, kWords> words_{};
};

}  // namespace weir
