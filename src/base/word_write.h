// One word of a record that is to change.
#pragma once

#include <cstddef>
#include <cstdint>

namespace weir {

struct WordWrite {
  std::uint64_t index;
  std::uint64_t value;
};

// No step of any limit changes more words of a record than this.
inline constexpr std::size_t kMaxWordWrites = 48;

}  // namespace weir
