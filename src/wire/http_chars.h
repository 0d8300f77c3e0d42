// Which bytes may stand where in HTTP/1.1 (RFC 9110, 5.5 and 5.6.2).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace weir::wire {
namespace internal {

template <typename Predicate>
constexpr std::array<bool, 256> CharTable(Predicate holds) {
  std::array<bool, 256> table{};
  for (unsigned c = 0; c < table.size(); ++c) table[c] = holds(static_cast<unsigned char>(c));
  return table;
}

constexpr bool IsAlphanumeric(unsigned char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

inline constexpr auto kTokenChars = CharTable([](unsigned char c) {
  return IsAlphanumeric(c) ||
         std::string_view("!#$%&'*+-.^_`|~").find(static_cast<char>(c)) != std::string_view::npos;
});
inline constexpr auto kFieldChars =
    CharTable([](unsigned char c) { return c == '\t' || (c >= 0x20 && c != 0x7F); });
inline constexpr auto kTargetChars =
    CharTable([](unsigned char c) { return c > 0x20 && c < 0x7F && c != '#'; });
inline constexpr auto kHostChars = CharTable([](unsigned char c) {
  return IsAlphanumeric(c) || std::string_view("-._~%!$&'()*+,;=:[]").find(static_cast<char>(c)) !=
                                  std::string_view::npos;
});

}  // namespace internal

// Of names: methods, header fields.
constexpr bool IsTokenChar(char c) { return internal::kTokenChars[static_cast<unsigned char>(c)]; }
// Of the value of a header field: all but control characters.
constexpr bool IsFieldChar(char c) { return internal::kFieldChars[static_cast<unsigned char>(c)]; }
// Of a request's target: neither blanks nor what is not ASCII, and no fragment.
constexpr bool IsTargetChar(char c) {
  return internal::kTargetChars[static_cast<unsigned char>(c)];
}
// Of a host with its port.
constexpr bool IsHostChar(char c) { return internal::kHostChars[static_cast<unsigned char>(c)]; }

constexpr bool IsToken(std::string_view text) {
  for (const char c : text) {
    if (!IsTokenChar(c)) return false;
  }
  return !text.empty();
}

// Where the value that begins at `at` ends: at the first control character, or the end of `text`.
inline std::size_t FindFieldEnd(std::string_view text, std::size_t at) {
  // Eight at a time: in the highest bit of each byte, whether it is below 0x20 or DEL. A borrow may
  // mark a byte too many, which is then looked at; it never misses one.
  constexpr std::uint64_t kEach = 0x0101010101010101;
  for (; text.size() - at >= sizeof(std::uint64_t); at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof(word));
    const std::uint64_t del = word ^ (kEach * 0x7F);
    const std::uint64_t below = (word - kEach * 0x20) & ~word;
    if (((below | ((del - kEach) & ~del)) & (kEach * 0x80)) == 0) continue;
    for (std::size_t i = at; i < at + sizeof(word); ++i) {
      if (!IsFieldChar(text[i])) return i;
    }
  }
  while (at < text.size() && IsFieldChar(text[at])) ++at;
  return at;
}

}  // namespace weir::wire
