// Letters of ASCII in either case, whatever the locale: names on the wire have no others.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "base/byte_words.h"

namespace weir {

constexpr char ToLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

namespace internal {

// Whether eight characters are the same but for the case of letters.
constexpr bool SameWord(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t differ = a ^ b;
  if (differ == 0) return true;
  // The cases of a letter differ in this one bit; so do pairs that are no letters, such as @ and `.
  constexpr std::uint64_t kCase = EachByte(0x20);
  if ((differ & ~kCase) != 0) return false;
  const std::uint64_t lower = a | kCase;
  const std::uint64_t low_bits = lower & EachByte(0x7F);  // so that no sum reaches the next byte
  const std::uint64_t letters =
      (low_bits + EachByte(0x80 - 'a')) & ~(low_bits + EachByte(0x7F - 'z')) & ~lower;
  return ((differ << 2) & ~letters) == 0;
}

}  // namespace internal

constexpr bool SameIgnoringCase(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  if (std::is_constant_evaluated() || a.size() < kWordBytes / 2) {
    return std::equal(a.begin(), a.end(), b.begin(),
                      [](char x, char y) { return ToLower(x) == ToLower(y); });
  }
  if (a.size() < kWordBytes) return internal::SameWord(LoadShort(a), LoadShort(b));
  // The last word first, which may overlap the one before it: names differ at their ends.
  std::size_t at = a.size() - kWordBytes;
  if (!internal::SameWord(LoadWord(a.data() + at), LoadWord(b.data() + at))) return false;
  for (; at > kWordBytes; at -= kWordBytes) {
    const std::size_t before = at - kWordBytes;
    if (!internal::SameWord(LoadWord(a.data() + before), LoadWord(b.data() + before))) return false;
  }
  return at == 0 || internal::SameWord(LoadWord(a.data()), LoadWord(b.data()));
}

}  // namespace weir
