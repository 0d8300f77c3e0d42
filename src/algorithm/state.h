// The state of one key under one limit: a few 64-bit words, all zero for a key never seen.
//
// Algorithms whose state is one word work on a plain `std::uint64_t&`. The others work on a
// `State`: they read words and note what they want changed. Whoever owns the words applies the
// changes afterwards, all of them or none, which is what makes a refusal free and a crash harmless.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/check.h"
#include "base/word_write.h"

namespace weir::algorithm {

class State {
 public:
  static constexpr std::size_t kMaxWrites = kMaxWordWrites;

  explicit State(std::span<const std::uint64_t> words) : words_(words) {}

  // Writes at once: for whoever owns `words` alone and may lose them half written.
  static State Direct(std::span<std::uint64_t> words) {
    State state{std::span<const std::uint64_t>(words)};
    state.direct_ = words.data();
    return state;
  }

  [[nodiscard]] std::uint64_t Get(std::size_t index) const {
    index += base_ + offset_;
    for (std::size_t i = 0; i < count_; ++i) {
      if (writes_[i].index == index) return writes_[i].value;
    }
    return words_[index];
  }

  void Set(std::size_t index, std::uint64_t value) {
    index += base_ + offset_;
    if (direct_ != nullptr) {
      direct_[index] = value;
      return;
    }
    for (std::size_t i = 0; i < count_; ++i) {
      if (writes_[i].index == index) {
        writes_[i].value = value;
        return;
      }
    }
    if (words_[index] == value) return;
    WEIR_CHECK(count_ < kMaxWrites);
    writes_[count_++] = {index, value};
  }

  // Where the limits' words begin, for whoever keeps words of his own before them.
  void SetBase(std::size_t base) { base_ = base; }
  // What follows reads and writes from word `offset` on: one limit of several that share a record.
  void Enter(std::size_t offset) { offset_ = offset; }

  void Discard() { count_ = 0; }
  [[nodiscard]] std::span<const WordWrite> writes() const { return {writes_.data(), count_}; }

 private:
  std::span<const std::uint64_t> words_;
  std::uint64_t* direct_ = nullptr;
  std::size_t base_ = 0;
  std::size_t offset_ = 0;
  std::size_t count_ = 0;
  std::array<WordWrite, kMaxWrites> writes_;
};

}  // namespace weir::algorithm
