#include "rule/envoy_name.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>

#include "base/hex.h"

namespace weir::rule {
namespace {

bool IsLegal(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == '/';
}

// 40 bits: a million paths have one chance in two to meet once, and then `taken_` sees to it.
std::string HashOf(std::string_view path, std::uint64_t seed) {
  std::uint64_t hash = XXH3_64bits_withSeed(path.data(), path.size(), seed);
  std::string text;
  for (int i = 0; i < 10; ++i, hash >>= 4) text += kHexDigits[hash & 15];
  return text;
}

}  // namespace

std::string NameMaker::NameFor(std::string_view path) {
  std::string name;
  for (const char c : path) {
    if (IsLegal(c)) {
      name += c;
    } else if (!name.ends_with('-')) {
      name += '-';  // one for a run of them
    }
  }
  if (name == path && name.size() <= kLongest && taken_.insert(name).second) return name;
  if (!name.ends_with('-')) name += '-';
  for (std::uint64_t seed = 0;; ++seed) {
    const std::string hash = HashOf(path, seed);
    std::string hashed = name.substr(0, kLongest - hash.size()) + hash;
    if (taken_.insert(hashed).second) return hashed;
  }
}

}  // namespace weir::rule
