// std::memcmp() for a few bytes whose number is not known before: a call costs more than they do.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/byte_words.h"

namespace weir {

// Whether two texts are the same, as == says it. The last word may overlap the one before it.
inline bool SameFew(std::string_view one, std::string_view other) {
  const std::size_t size = one.size();
  if (other.size() != size) return false;
  if (size < kWordBytes) return LoadUpToWord(one) == LoadUpToWord(other);
  const std::size_t last = size - kWordBytes;
  if (LoadWord(one.data() + last) != LoadWord(other.data() + last)) return false;
  for (std::size_t at = 0; at < last; at += kWordBytes) {
    if (LoadWord(one.data() + at) != LoadWord(other.data() + at)) return false;
  }
  return true;
}

// The same of two texts of one size that is eight at least: two words at a time, from both ends.
[[gnu::always_inline]] inline bool SameWords(const char* one, const char* other, std::size_t size) {
  const auto differ = [&](std::size_t at) { return LoadWord(one + at) ^ LoadWord(other + at); };
  const std::size_t last = size - kWordBytes;
  std::uint64_t differs = differ(0) | differ(last);
  if (size > 2 * kWordBytes) {
    differs |= differ(kWordBytes) | differ(last - kWordBytes);
    for (std::size_t at = 2 * kWordBytes; at + kWordBytes < last; at += kWordBytes) {
      if (differ(at) != 0) return false;  // not collected: a loop over so few is not to be unrolled
    }
  }
  return differs == 0;
}

}  // namespace weir
