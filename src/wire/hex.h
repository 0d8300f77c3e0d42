// Hexadecimal digits, of both cases.
#pragma once

#include <cstdint>
#include <optional>

namespace weir::wire {

constexpr std::optional<std::uint8_t> HexDigit(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint8_t>(c - '0');
  const char lower = static_cast<char>(c | 0x20);
  if (lower >= 'a' && lower <= 'f') return static_cast<std::uint8_t>(lower - 'a' + 10);
  return std::nullopt;
}

// The byte that the two characters write, if they do.
constexpr std::optional<char> HexByte(char high, char low) {
  const std::optional<std::uint8_t> upper = HexDigit(high);
  const std::optional<std::uint8_t> lower = HexDigit(low);
  if (!upper || !lower) return std::nullopt;
  return static_cast<char>(*upper << 4 | *lower);
}

}  // namespace weir::wire
