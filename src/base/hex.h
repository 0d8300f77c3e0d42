// Bytes as people compare them: two hexadecimal digits each.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weir {

inline constexpr std::string_view kHexDigits = "0123456789abcdef";

inline void AppendHex(std::uint8_t byte, std::string& out) {
  out += kHexDigits[byte >> 4];
  out += kHexDigits[byte & 15];
}

// The first byte first.
inline void AppendHex(std::span<const std::uint8_t> bytes, std::string& out) {
  for (const std::uint8_t byte : bytes) AppendHex(byte, out);
}

// All 16 digits, the highest first.
inline void AppendHex(std::uint64_t number, std::string& out) {
  for (int shift = 56; shift >= 0; shift -= 8) {
    AppendHex(static_cast<std::uint8_t>(number >> shift), out);
  }
}

}  // namespace weir
