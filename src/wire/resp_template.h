// A command that is said again and again, with other words in some of its places.
//
//   *4\r\n$10\r\nWEIR.CHECK\r\n$4\r\nshop\r\n$4\r\npath\r\n$_\r\n______\r\n
//
// What is always the same is compared as it stands, many bytes at a time, and what it means was
// worked out when the template was made: a command that fits is read at the price of its gaps.
// Whatever does not fit, for whatever reason, is for the reader (resp_request.h) to tell.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "base/same_few.h"

namespace weir::wire {

class RespTemplate {
 public:
  using Arguments = std::span<const std::string_view>;
  static constexpr std::size_t kMostGaps = 16;
  static constexpr std::size_t kMostBytes = 512;    // of what is between them
  static constexpr std::size_t kLongestWord = 999;  // in a gap
  // Of a command that fits.
  static constexpr std::size_t kLongestCommand = kMostBytes + kMostGaps * (kLongestWord + 7);

  // Commands that differ from `arguments` in words at `gaps` only, a bit for each. False if they
  // are too long or too many: then nothing fits. REQUIRES: there is a gap, the first word is none,
  // and none follows another
  bool Learn(Arguments arguments, std::uint64_t gaps);

  // The size of the command that `bytes` begin with, or 0 if it does not fit, not all of it is
  // there, or `use(gap, word)` said of one of its words that it may not be in a gap.
  template <typename Use>
  [[gnu::always_inline]] std::size_t Read(std::string_view bytes, const Use& use) const {
    if (bytes.size() < first_needs_) return 0;
    const char* same = same_.data();
    std::size_t at = 0;
    for (std::size_t i = 0; i < gaps_; ++i) {
      const Gap& gap = row_[i];
      // SameWords(), whose answers are not brought together only to be asked for again.
      if (gap.before <= ByteBlock::kSize) {
        if (!SameTwoWords(bytes.data() + at, same, gap.before)) return 0;
      } else {
        if (!SameBlocks(bytes.data() + at, same, gap.before)) return 0;
      }
      same += gap.before;
      at += gap.before;
      // As the reader of commands does it: what is left of the line when what it should be is taken
      // away is the number, and anything wrong makes it too large.
      const std::uint32_t line = LoadFour(bytes.data() + at);
      std::uint32_t length = (line ^ kOneDigit) & 0xFF'FFFF;
      if (length <= 9) {
        at += 3;
      } else if (const std::uint32_t two = line ^ kTwoDigits;
                 two >> 8 <= 9 && (two & 0xFF) - 1 < 9) {
        length = (two & 0xFF) * 10 + (two >> 8);
        at += 4;
      } else {
        if (bytes[at + 4] != '\n' || !ReadThreeDigits(line ^ kThreeDigits, length)) return 0;
        at += 5;
      }
      // Whether it ends where it says is seen with what follows.
      if (bytes.size() < at + length + gap.behind) return 0;
      if (!use(i, std::string_view(bytes.data() + at, length))) return 0;
      at += length;
    }
    if (rest_ == kLineEnd) return bytes[at] == '\r' && bytes[at + 1] == '\n' ? at + kLineEnd : 0;
    return SameWords(bytes.data() + at, same, rest_) ? at + rest_ : 0;
  }

  [[nodiscard]] std::size_t gaps() const { return gaps_; }

 private:
  static constexpr std::size_t kLineEnd = 2;
  static constexpr std::size_t kSmallestGap = 5;              // 0 CR LF CR LF
  static constexpr std::uint32_t kOneDigit = 0x0A'0D'30;      // 0 CR LF
  static constexpr std::uint32_t kTwoDigits = 0x0A0D'3030;    // 00 CR LF
  static constexpr std::uint32_t kThreeDigits = 0x0D'303030;  // 000 CR

  static std::uint32_t LoadFour(const char* from) {
    std::uint32_t word = 0;
    std::memcpy(&word, from, sizeof word);
    return word;
  }
  static bool ReadThreeDigits(std::uint32_t digits, std::uint32_t& number) {
    const std::uint32_t hundreds = digits & 0xFF;
    const std::uint32_t tens = digits >> 8 & 0xFF;
    const std::uint32_t ones = digits >> 16;
    number = hundreds * 100 + tens * 10 + ones;
    return hundreds - 1 < 9 && tens <= 9 && ones <= 9;
  }

  struct Gap {
    std::uint16_t before = 0;  // bytes that are the same, up to the $ of its length
    std::uint16_t behind = 0;  // bytes there are behind its word, at least
  };

  std::size_t gaps_ = 0;
  std::size_t first_needs_ = SIZE_MAX;  // bytes to be there before the first length is looked at
  std::array<Gap, kMostGaps> row_{};
  std::size_t rest_ = kLineEnd;  // bytes that are the same, behind the last word in a gap
  std::array<char, kMostBytes> same_{};
};

}  // namespace weir::wire
