#include "service/shown_values.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/hex.h"
#include "rule/address.h"
#include "rule/utf8.h"

namespace weir {
namespace {

constexpr std::array<std::string_view, 7> kSecretWords = {"auth",   "cookie", "key",    "token",
                                                          "secret", "passw",  "session"};

std::string Sign(std::string_view value, std::uint64_t seed) {
  std::uint64_t hash = XXH3_64bits_withSeed(value.data(), value.size(), seed);
  std::string sign = "#";
  for (int i = 0; i < 8; ++i, hash >>= 4) sign += kHexDigits[hash & 15];
  return sign;
}

}  // namespace

bool MayBeSecret(std::string_view attribute) {
  std::string name(attribute);
  std::transform(name.begin(), name.end(), name.begin(), ToLower);
  return std::any_of(kSecretWords.begin(), kSecretWords.end(),
                     [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

std::string ShownValue(std::string_view attribute, std::string_view value, std::uint64_t seed) {
  if (!MayBeSecret(attribute)) {
    // A long value, or one with bytes that cannot be printed, would be shown like others of them.
    std::string shown = rule::Shown(value);
    if (shown == value) return shown;
    return shown + Sign(value, seed);
  }
  return Sign(value, seed);
}

std::string ShownKey(std::span<const rule::CompiledKeyPart> key, const rule::Schema& schema,
                     const rule::Values& values, std::uint64_t seed) {
  if (key.empty()) return "all requests";
  std::string text;
  for (const rule::CompiledKeyPart& part : key) {
    const std::string& name = schema.names()[part.attribute];
    if (!text.empty()) text += ' ';
    text += name + "=";
    if (part.is_address) {
      const rule::Address& ip = *values.ip();
      const std::uint8_t bits = ip.is_v4() ? part.bits.v4 : part.bits.v6;
      const bool whole = bits == (ip.is_v4() ? 32 : 128);
      text += whole ? ip.ToString() : rule::Network(ip, bits).ToString();
    } else {
      text += ShownValue(name, values[part.attribute], seed);
    }
  }
  return text;
}

std::vector<std::pair<std::string, std::string>> ShownAttributes(const rule::Schema& schema,
                                                                 const rule::Values& values,
                                                                 std::uint64_t seed) {
  std::vector<std::pair<std::string, std::string>> shown;
  for (std::size_t i = 0; i < schema.names().size(); ++i) {
    const auto number = static_cast<rule::Schema::Number>(i);
    const std::string& name = schema.names()[i];
    if (values.Has(number)) shown.emplace_back(name, ShownValue(name, values[number], seed));
  }
  return shown;
}

}  // namespace weir
