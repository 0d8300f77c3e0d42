// Names of header fields, compared again and again: with each request, each of its fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/ascii.h"
#include "base/byte_words.h"

namespace weir::rule {

// Whether two names are the same but for the case of letters, without asking which characters are
// letters: the one bit that tells the cases apart is ignored. REQUIRES: `field` holds no control
// characters, as a name that was read from a request does not; `name` is letters, digits and
// - _ . only, of which no other than a letter differs in that bit alone from what may be in a
// field.
inline bool SameFieldName(std::string_view field, std::string_view name) {
  const std::size_t size = name.size();
  if (field.size() != size) return false;
  if (size < kWordBytes / 2) return SameIgnoringCase(field, name);
  const auto same = [](std::uint64_t a, std::uint64_t b) {
    return ((a ^ b) & ~EachByte(0x20)) == 0;
  };
  if (size < kWordBytes) return same(LoadShort(field), LoadShort(name));
  // The last word first, which may overlap the one before it: names differ at their ends.
  const std::size_t last = size - kWordBytes;
  if (!same(LoadWord(field.data() + last), LoadWord(name.data() + last))) return false;
  for (std::size_t at = 0; at < last; at += kWordBytes) {
    if (!same(LoadWord(field.data() + at), LoadWord(name.data() + at))) return false;
  }
  return true;
}

}  // namespace weir::rule
