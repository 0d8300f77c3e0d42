#include "catalog/digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace weir::catalog {
namespace {

XXH128_canonical_t HashOf(std::string_view bytes) {
  XXH128_canonical_t canonical;
  XXH128_canonicalFromHash(&canonical, XXH3_128bits(bytes.data(), bytes.size()));
  return canonical;
}

}  // namespace

std::string DigestOf(const std::vector<std::string_view>& pieces) {
  std::string hashes;  // of one size each, so that no boundary can be mistaken
  for (const std::string_view piece : pieces) {
    const XXH128_canonical_t hash = HashOf(piece);
    hashes.append(reinterpret_cast<const char*>(hash.digest), sizeof hash.digest);
  }
  const XXH128_canonical_t all = HashOf(hashes);
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : all.digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

}  // namespace weir::catalog
