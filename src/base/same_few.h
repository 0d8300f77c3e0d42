// std::memcmp() for a few bytes whose number is not known before: a call costs more than they do.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/byte_block.h"
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

// The same of two texts of one size, which is eight to sixteen.
[[gnu::always_inline]] inline bool SameTwoWords(const char* one, const char* other,
                                                std::size_t size) {
  const std::size_t last = size - kWordBytes;
  return ((LoadWord(one) ^ LoadWord(other)) | (LoadWord(one + last) ^ LoadWord(other + last))) == 0;
}

// Sixteen at least.
[[gnu::always_inline]] inline bool SameBlocks(const char* one, const char* other,
                                              std::size_t size) {
  const auto same = [&](std::size_t at) {
    return ByteBlock(one + at).Equal(ByteBlock(other + at));
  };
  const std::size_t last = size - ByteBlock::kSize;
  for (std::size_t at = ByteBlock::kSize; at < last; at += ByteBlock::kSize) {
    if (same(at) != kAllMarks) return false;
  }
  return (same(0) & same(last)) == kAllMarks;
}

// Eight at least.
[[gnu::always_inline]] inline bool SameWords(const char* one, const char* other, std::size_t size) {
  return size <= ByteBlock::kSize ? SameTwoWords(one, other, size) : SameBlocks(one, other, size);
}

}  // namespace weir
