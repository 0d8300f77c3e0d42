#include "rule/api_keys.h"

#include <openssl/sha.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/hex.h"
#include "rule/user_name.h"
#include "rule/utf8.h"

namespace weir::rule {
namespace {

std::optional<std::uint8_t> HexDigit(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint8_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<std::uint8_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<std::uint8_t>(c - 'A' + 10);
  return std::nullopt;
}

bool ReadHex(std::string_view text, std::span<std::uint8_t> bytes) {
  if (text.size() != bytes.size() * 2) return false;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto high = HexDigit(text[2 * i]);
    const auto low = HexDigit(text[2 * i + 1]);
    if (!high || !low) return false;
    bytes[i] = static_cast<std::uint8_t>(*high << 4 | *low);
  }
  return true;
}

}  // namespace

Result<ApiKeys> ApiKeys::Make(std::span<const Source> sources) {
  ApiKeys keys;
  keys.entries_.reserve(sources.size());
  for (const Source& source : sources) {
    const std::string name = "API key of user '" + Shown(source.user) + "'";
    Entry entry{.digest = {}, .user = source.user};
    if (!IsUserName(source.user)) {
      return Error{name + ": the name must have 1 to " + std::to_string(kLongestUserName) +
                   " bytes of UTF-8 without control characters"};
    }
    if (!ReadHex(source.digest, entry.digest)) {
      return Error{name + ": give the SHA-256 of the key in 64 hexadecimal digits, not the key"};
    }
    keys.entries_.push_back(std::move(entry));
  }
  const auto before = [](const Entry& a, const Entry& b) { return a.digest < b.digest; };
  std::sort(keys.entries_.begin(), keys.entries_.end(), before);
  const auto same = [](const Entry& a, const Entry& b) { return a.digest == b.digest; };
  const auto twice = std::adjacent_find(keys.entries_.begin(), keys.entries_.end(), same);
  if (twice != keys.entries_.end()) {
    return Error{"users '" + Shown(twice->user) + "' and '" + Shown(std::next(twice)->user) +
                 "' have the same API key; give each their own"};
  }
  return keys;
}

ApiKeys::DigestBytes ApiKeys::DigestOf(std::string_view key) {
  DigestBytes digest;
  static_assert(digest.size() == SHA256_DIGEST_LENGTH);
  SHA256(reinterpret_cast<const unsigned char*>(key.data()), key.size(), digest.data());
  return digest;
}

std::string ApiKeys::Digest(std::string_view key) {
  std::string hex;
  AppendHex(DigestOf(key), hex);
  return hex;
}

const std::string* ApiKeys::FindUser(std::string_view key) const {
  if (key.empty() || key.size() > kLongestKey) return nullptr;
  const DigestBytes digest = DigestOf(key);
  // How far the comparison gets tells about the digest, from which nobody can make a key.
  const auto found = std::lower_bound(
      entries_.begin(), entries_.end(), digest,
      [](const Entry& entry, const DigestBytes& wanted) { return entry.digest < wanted; });
  return found != entries_.end() && found->digest == digest ? &found->user : nullptr;
}

}  // namespace weir::rule
