#include "catalog/digest.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/hex.h"

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
  std::string text;
  AppendHex(all.digest, text);
  return text;
}

}  // namespace weir::catalog
