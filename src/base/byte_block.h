// Sixteen characters at a time: where in a text is the first of some kind?
//
// Nearly all of a request is looked through for where its parts end, and character by character
// that costs more than everything else about it together.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/copy_few.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace weir {

// Which of the sixteen: the first is the lowest bit.
using ByteMarks = std::uint32_t;
inline constexpr ByteMarks kAllMarks = 0xFFFF;

constexpr std::size_t FirstMark(ByteMarks marks) {
  return static_cast<std::size_t>(std::countr_zero(marks));
}

class ByteBlock {
 public:
  static constexpr std::size_t kSize = 16;

#if defined(__SSE2__)
  // REQUIRES: kSize characters to read.
  explicit ByteBlock(const char* from)
      : bytes_(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))) {}

  // The same where they lie at a multiple of kSize: so no instruction is needed to fetch them.
  static ByteBlock Aligned(const char* from) {
    return ByteBlock(_mm_load_si128(reinterpret_cast<const __m128i*>(from)));
  }

  // REQUIRES: bound > 0
  [[nodiscard]] ByteMarks Below(unsigned char bound) const {
    return Marks(BytesBelow(bytes_, bound));
  }
  [[nodiscard]] ByteMarks Equal(char c) const { return Marks(_mm_cmpeq_epi8(bytes_, Each(c))); }
  [[nodiscard]] ByteMarks Equal(const ByteBlock& other) const {
    return Marks(_mm_cmpeq_epi8(bytes_, other.bytes_));
  }
  [[nodiscard]] ByteMarks NoAscii() const { return Marks(bytes_); }
  // Of ASCII.
  [[nodiscard]] ByteMarks Controls() const {
    return Marks(_mm_or_si128(BytesBelow(bytes_, 0x20), _mm_cmpeq_epi8(bytes_, Each(0x7F))));
  }
  // Of ASCII, and `other`.
  [[nodiscard]] ByteMarks LettersOr(char other) const {
    const __m128i lower = _mm_sub_epi8(_mm_or_si128(bytes_, Each(0x20)), Each('a'));
    return Marks(_mm_or_si128(BytesBelow(lower, 26), _mm_cmpeq_epi8(bytes_, Each(other))));
  }

 private:
  explicit ByteBlock(__m128i bytes) : bytes_(bytes) {}
  static __m128i Each(char c) { return _mm_set1_epi8(c); }
  static ByteMarks Marks(__m128i bytes) { return static_cast<ByteMarks>(_mm_movemask_epi8(bytes)); }
  static __m128i BytesBelow(__m128i bytes, unsigned char bound) {
    const __m128i most = Each(static_cast<char>(bound - 1));
    return _mm_cmpeq_epi8(_mm_min_epu8(bytes, most), bytes);
  }

  __m128i bytes_;
#else
  explicit ByteBlock(const char* from) { std::memcpy(bytes_.data(), from, kSize); }
  static ByteBlock Aligned(const char* from) { return ByteBlock(from); }

  [[nodiscard]] ByteMarks Below(unsigned char bound) const {
    return MarksOf([bound](unsigned char c) { return c < bound; });
  }
  [[nodiscard]] ByteMarks Equal(char c) const {
    return MarksOf([c](unsigned char byte) { return byte == static_cast<unsigned char>(c); });
  }
  [[nodiscard]] ByteMarks Equal(const ByteBlock& other) const {
    ByteMarks marks = 0;
    for (std::size_t i = 0; i < kSize; ++i) marks |= (bytes_[i] == other.bytes_[i] ? 1U : 0U) << i;
    return marks;
  }
  [[nodiscard]] ByteMarks NoAscii() const {
    return MarksOf([](unsigned char c) { return c >= 0x80; });
  }
  [[nodiscard]] ByteMarks Controls() const {
    return MarksOf([](unsigned char c) { return c < 0x20 || c == 0x7F; });
  }
  [[nodiscard]] ByteMarks LettersOr(char other) const {
    return MarksOf([](unsigned char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }) |
           Equal(other);
  }

 private:
  template <typename Holds>
  [[nodiscard]] ByteMarks MarksOf(Holds holds) const {
    ByteMarks marks = 0;
    for (std::size_t i = 0; i < kSize; ++i) marks |= (holds(bytes_[i]) ? 1U : 0U) << i;
    return marks;
  }

  std::array<unsigned char, kSize> bytes_;
#endif
};

// Whether one or the other is anywhere in a text. REQUIRES: neither is 0
inline bool HasEither(std::string_view text, char one, char other) {
  const auto has = [&](const char* from) {
    const ByteBlock block(from);
    return (block.Equal(one) | block.Equal(other)) != 0;
  };
  const std::size_t size = text.size();
  if (size < ByteBlock::kSize) {
    std::array<char, ByteBlock::kSize> padded{};
    CopyFew(padded.data(), text.data(), size);
    return has(padded.data());
  }
  for (std::size_t at = 0; at + ByteBlock::kSize < size; at += ByteBlock::kSize) {
    if (has(text.data() + at)) return true;
  }
  return has(text.data() + size - ByteBlock::kSize);  // which may overlap the one before it
}

}  // namespace weir
