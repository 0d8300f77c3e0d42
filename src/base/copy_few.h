// std::memcpy() for a few bytes whose number is not known before: a call costs more than they do.
#pragma once

#include <cstddef>
#include <cstring>

namespace weir {

// What two moves copy may overlap in the middle. REQUIRES: `to` and `from` do not.
inline void CopyFew(char* to, const char* from, std::size_t size) {
  if (size >= 16) {
    for (std::size_t i = 0; i + 16 < size; i += 16) std::memcpy(to + i, from + i, 16);
    std::memcpy(to + size - 16, from + size - 16, 16);
  } else if (size >= 8) {
    std::memcpy(to, from, 8);
    std::memcpy(to + size - 8, from + size - 8, 8);
  } else if (size >= 4) {
    std::memcpy(to, from, 4);
    std::memcpy(to + size - 4, from + size - 4, 4);
  } else if (size > 0) {
    to[0] = from[0];
    to[size / 2] = from[size / 2];
    to[size - 1] = from[size - 1];
  }
}

}  // namespace weir
