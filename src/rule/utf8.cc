#include "rule/utf8.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace weir::rule {
namespace {

// The length of the valid sequence at the start of `text`; 0 if there is none.
std::size_t SequenceLength(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(0);
  if (first < 0x80) return first != 0 ? 1 : 0;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Longer than needed, surrogates, beyond the last code point.
  if (first == 0xE0 && byte(1) < 0xA0) return 0;
  if (first == 0xED && byte(1) > 0x9F) return 0;
  if (first == 0xF0 && byte(1) < 0x90) return 0;
  if (first == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

// And not NUL.
bool IsAscii(char c) { return static_cast<std::uint8_t>(c - 1) < 0x7F; }

// All eight of them, and none is NUL.
bool IsAsciiOf8(const char* bytes) {
  constexpr std::uint64_t kOnes = 0x0101'0101'0101'0101;
  constexpr std::uint64_t kHighs = 0x8080'8080'8080'8080;
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return ((word | (word - kOnes)) & kHighs) == 0;
}

}  // namespace

std::size_t FirstInvalidUtf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    if (text.size() - i >= 8 && IsAsciiOf8(text.data() + i)) {
      i += 8;
      continue;
    }
    if (IsAscii(text[i])) {
      ++i;
      continue;
    }
    const std::size_t length = SequenceLength(text.substr(i));
    if (length == 0) return i;
    i += length;
  }
  return std::string_view::npos;
}

std::string Valid(std::string_view text) {
  std::string valid(text);
  for (std::size_t i = 0; i < valid.size();) {
    const std::size_t length = SequenceLength(text.substr(i));
    if (length == 0) valid[i] = '?';
    i += std::max<std::size_t>(length, 1);
  }
  return valid;
}

std::string Shown(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string shown;
  std::size_t characters = 0;
  for (std::size_t i = 0; i < text.size(); ++characters) {
    if (characters == kLongest) return shown + "...";
    const std::size_t length = SequenceLength(text.substr(i));
    const bool control =
        length == 1 && (static_cast<std::uint8_t>(text[i]) < 0x20 || text[i] == 0x7F);
    if (length == 0 || control) {
      shown += '?';
      i += 1;
    } else {
      shown += text.substr(i, length);
      i += length;
    }
  }
  return shown;
}

}  // namespace weir::rule
