// Which bytes may stand where in HTTP/1.1 (RFC 9110, 5.5 and 5.6.2).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/byte_block.h"

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
  while (text.size() - at >= ByteBlock::kSize) {
    const ByteBlock block(text.data() + at);
    const ByteMarks ends = block.Controls();
    at += ends == 0 ? ByteBlock::kSize : FirstMark(ends);
    if (ends == 0) continue;
    if (text[at] != '\t') return at;
    ++at;
  }
  while (at < text.size() && IsFieldChar(text[at])) ++at;
  return at;
}

// Where the name that `text` begins with ends: at the first character that is none of a name's.
inline std::size_t FindNameEnd(std::string_view text) {
  constexpr ByteMarks kAll = 0xFFFF;
  std::size_t at = 0;
  while (text.size() - at >= ByteBlock::kSize) {
    const ByteBlock block(text.data() + at);
    const ByteMarks others = block.LettersOr('-') ^ kAll;
    at += others == 0 ? ByteBlock::kSize : FirstMark(others);
    if (others == 0) continue;
    if (!IsTokenChar(text[at])) return at;
    ++at;  // one of the rarer ones
  }
  while (at < text.size() && IsTokenChar(text[at])) ++at;
  return at;
}

// Where the target that begins at `at` ends, in the same way.
inline std::size_t FindTargetEnd(std::string_view text, std::size_t at) {
  for (; text.size() - at >= ByteBlock::kSize; at += ByteBlock::kSize) {
    const ByteBlock block(text.data() + at);
    const ByteMarks ends =
        block.Below(0x21) | block.Equal('#') | block.Equal(0x7F) | block.NoAscii();
    if (ends != 0) return at + FirstMark(ends);
  }
  while (at < text.size() && IsTargetChar(text[at])) ++at;
  return at;
}

}  // namespace weir::wire
