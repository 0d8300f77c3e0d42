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

}  // namespace weir
