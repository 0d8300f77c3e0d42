// Keys as tables know them: 128 bits of hash, with a seed that nobody outside can guess.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>
#include <string_view>

#include "weir/keyed_limiter.h"

namespace weir {

inline KeyHash HashKey(std::string_view key, std::uint64_t seed) noexcept {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(key.data(), key.size(), seed);
  return {hash.low64, hash.high64};
}

}  // namespace weir
