// Texts eight bytes at a time: a word holds eight characters, the first in its lowest byte.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

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

// Four to eight bytes as a word, some of them twice: the same for the same texts of one length.
inline std::uint64_t LoadShort(std::string_view text) {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::memcpy(&first, text.data(), sizeof first);
  std::memcpy(&last, text.data() + text.size() - sizeof last, sizeof last);
  return std::uint64_t{last} << 32 | first;
}

// The same for any text of up to eight bytes.
inline std::uint64_t LoadUpToWord(std::string_view text) {
  const std::size_t size = text.size();
  if (size >= 4) return LoadShort(text);
  if (size >= 2) {
    std::uint16_t first = 0;
    std::uint16_t last = 0;
    std::memcpy(&first, text.data(), sizeof first);
    std::memcpy(&last, text.data() + size - sizeof last, sizeof last);
    return std::uint64_t{last} << 16 | first;
  }
  return size == 1 ? static_cast<unsigned char>(text[0]) : 0;
}

}  // namespace weir
