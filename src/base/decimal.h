// Numbers to and from decimal digits, for answers and commands that are little else.
//
// The standard library's way costs more than what is done with most of these numbers: they are
// short, and their digits go straight to where they are sent from.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace weir {

// Of the largest number, with a sign.
inline constexpr std::size_t kMostDigits = 20;

namespace internal {

// "00", "01" ... "99".
inline constexpr auto kTwoDigits = [] {
  std::array<char, 200> pairs{};
  for (std::size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

}  // namespace internal

// With a zero before one of one digit. REQUIRES: below_100 is.
inline char* WriteTwoDigits(std::uint64_t below_100, char* to) {
  std::memcpy(to, &internal::kTwoDigits[2 * below_100], 2);
  return to + 2;
}

// REQUIRES: 100 to 9,999
inline char* WriteThreeOrFourDigits(std::uint32_t value, char* to) {
  const std::uint32_t hundreds = value * 5243 >> 19;  // value / 100, for so few digits
  if (hundreds < 10) {
    *to++ = static_cast<char>('0' + hundreds);
  } else {
    to = WriteTwoDigits(hundreds, to);
  }
  return WriteTwoDigits(value - hundreds * 100, to);
}

inline char* WriteDecimal(std::uint64_t value, char* to);

namespace internal {

// REQUIRES: below 10,000. In 32 bits: what is divided by a constant is then multiplied once.
inline char* WriteUpToFourDigits(std::uint32_t value, char* to) {
  if (value >= 100) return WriteThreeOrFourDigits(value, to);
  if (value >= 10) return WriteTwoDigits(value, to);
  *to = static_cast<char>('0' + value);
  return to + 1;
}

// Of three digits or more. Apart, so that what is inlined for the short ones is short.
[[gnu::noinline]] inline char* WriteLongDecimal(std::uint64_t value, char* to) {
  if (value < 10'000) return WriteThreeOrFourDigits(static_cast<std::uint32_t>(value), to);
  if (value < 100'000'000) {
    const auto all = static_cast<std::uint32_t>(value);
    to = WriteUpToFourDigits(all / 10'000, to);
  } else {
    to = WriteDecimal(value / 10'000, to);
  }
  const auto last_four = static_cast<std::uint32_t>(value % 10'000);
  to = WriteTwoDigits(last_four / 100, to);
  return WriteTwoDigits(last_four % 100, to);
}

}  // namespace internal

// Writes the digits of `value` to `to`, which has room for kMostDigits. Returns where they end.
inline char* WriteDecimal(std::uint64_t value, char* to) {
  if (value < 10) {
    *to = static_cast<char>('0' + value);
    return to + 1;
  }
  if (value < 100) return WriteTwoDigits(value, to);
  return internal::WriteLongDecimal(value, to);
}

inline char* WriteDecimal(std::int64_t value, char* to) {
  if (value >= 0) return WriteDecimal(static_cast<std::uint64_t>(value), to);
  *to = '-';
  return WriteDecimal(0 - static_cast<std::uint64_t>(value), to + 1);
}

// All of `text` is a number, perhaps with a minus; nothing if it is not, or does not fit.
inline std::optional<std::int64_t> ReadDecimal(std::string_view text) {
  constexpr std::size_t kAlwaysFit = 18;
  std::int64_t value = 0;
  if (text.size() <= kAlwaysFit) {
    std::size_t i = 0;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
      value = value * 10 + (text[i] - '0');
    }
    if (i == text.size() && i > 0) return value;
  }
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace weir
