#include "rule/base64url.h"

#include <array>
#include <cstdint>

namespace weir::rule {
namespace {

constexpr std::uint8_t kNoDigit = 64;

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

constexpr std::array<std::uint8_t, 256> kDigits = [] {
  std::array<std::uint8_t, 256> digits{};
  digits.fill(kNoDigit);
  std::uint8_t value = 0;
  for (const char digit : kAlphabet) digits[static_cast<std::uint8_t>(digit)] = value++;
  return digits;
}();

}  // namespace

std::optional<std::string> DecodeBase64Url(std::string_view text) {
  if (text.size() % 4 == 1) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() * 3 / 4);
  std::uint32_t held = 0;  // bits read and not yet written
  unsigned held_bits = 0;
  for (const char c : text) {
    const std::uint8_t digit = kDigits[static_cast<std::uint8_t>(c)];
    if (digit == kNoDigit) return std::nullopt;
    held = held << 6 | digit;
    held_bits += 6;
    if (held_bits >= 8) {
      held_bits -= 8;
      bytes += static_cast<char>(held >> held_bits);
      held &= (1U << held_bits) - 1;
    }
  }
  if (held != 0) return std::nullopt;
  return bytes;
}

std::string EncodeBase64Url(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() * 4 + 2) / 3);
  std::uint32_t held = 0;  // bits read and not yet written
  unsigned held_bits = 0;
  for (const char byte : bytes) {
    held = (held << 8 | static_cast<std::uint8_t>(byte)) & 0xFFFF;
    for (held_bits += 8; held_bits >= 6;) {
      held_bits -= 6;
      text += kAlphabet[held >> held_bits & 63U];
    }
  }
  if (held_bits > 0) text += kAlphabet[held << (6 - held_bits) & 63U];
  return text;
}

}  // namespace weir::rule
