// Arithmetic that neither wraps nor rounds in the caller's favour.
//
// Intermediates are 128 bits wide; what does not fit a result saturates.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace weir {

__extension__ using Uint128 = unsigned __int128;

inline constexpr std::uint64_t kMaxUint64 = std::numeric_limits<std::uint64_t>::max();

constexpr std::uint64_t Saturate(Uint128 value) {
  return value > kMaxUint64 ? kMaxUint64 : static_cast<std::uint64_t>(value);
}
constexpr std::uint64_t SatAdd(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t sum = a + b;
  return sum < a ? kMaxUint64 : sum;
}
constexpr std::uint64_t SatSub(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : 0; }

constexpr Uint128 Mul(std::uint64_t a, std::uint64_t b) { return Uint128{a} * b; }

constexpr Uint128 CeilDiv(Uint128 a, Uint128 b) { return a / b + (a % b != 0 ? 1 : 0); }
constexpr std::uint64_t CeilDiv(std::uint64_t a, std::uint64_t b) {
  return a / b + (a % b != 0 ? 1 : 0);
}

// How many bits it takes to write `value`.
constexpr int BitWidth(std::uint64_t value) { return static_cast<int>(std::bit_width(value)); }

}  // namespace weir
