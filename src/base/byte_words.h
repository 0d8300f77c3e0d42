// Texts eight bytes at a time.
//
// A word holds eight characters, the first in its lowest byte. What is found out about them is a
// mark in the highest bit of each byte, all at once. Subtracting may borrow from the byte above, so
// the marks are right up to the first one, and beyond it there may be one too many: look at the
// first mark, or whether there is any.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weir {

static_assert(std::endian::native == std::endian::little);

inline constexpr std::size_t kWordBytes = sizeof(std::uint64_t);

// `byte` in all eight places.
constexpr std::uint64_t EachByte(unsigned char byte) { return 0x0101010101010101 * byte; }

// REQUIRES: eight bytes to read.
inline std::uint64_t LoadWord(const char* from) {
  std::uint64_t word = 0;
  std::memcpy(&word, from, sizeof word);
  return word;
}

// Marks the bytes below `bound`. REQUIRES: bound <= 0x80
constexpr std::uint64_t MarkBelow(std::uint64_t word, unsigned char bound) {
  return (word - EachByte(bound)) & ~word & EachByte(0x80);
}
constexpr std::uint64_t MarkEqual(std::uint64_t word, char c) {
  return MarkBelow(word ^ EachByte(static_cast<unsigned char>(c)), 1);
}
// Where the first mark is. REQUIRES: there is one.
constexpr std::size_t FirstMark(std::uint64_t marks) {
  return static_cast<std::size_t>(std::countr_zero(marks)) / 8;
}

}  // namespace weir
