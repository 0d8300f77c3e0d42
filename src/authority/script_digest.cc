#include "authority/script_digest.h"

#include <openssl/sha.h>

#include <array>
#include <cstdint>

#include "base/hex.h"

namespace weir::authority {

std::string ScriptDigest(std::string_view script) {
  std::array<std::uint8_t, SHA_DIGEST_LENGTH> digest{};
  SHA1(reinterpret_cast<const unsigned char*>(script.data()), script.size(), digest.data());
  std::string text;
  AppendHex(digest, text);
  return text;
}

}  // namespace weir::authority
