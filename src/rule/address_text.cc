#include "rule/address_text.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/decimal.h"

namespace weir::rule {
namespace {

constexpr int kGroups = 8;
constexpr std::size_t kBytes = 16;
constexpr int kNowhere = -1;

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

constexpr int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Which groups are left out of an address that is written: the first of the longest runs of zeros.
struct Run {
  int begin = kNowhere;
  int size = 0;
};

Run LongestZeros(const std::array<unsigned, kGroups>& groups) {
  Run longest;
  Run run;
  for (int i = 0; i < kGroups; ++i) {
    if (groups[static_cast<std::size_t>(i)] != 0) {
      run = {};
      continue;
    }
    if (run.size++ == 0) run.begin = i;
    if (run.size > longest.size) longest = run;
  }
  return longest.size >= 2 ? longest : Run{};
}

char* WriteHex(unsigned group, char* to) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (group >= 0x1000) *to++ = kDigits[group >> 12];
  if (group >= 0x100) *to++ = kDigits[group >> 8 & 15];
  if (group >= 0x10) *to++ = kDigits[group >> 4 & 15];
  *to++ = kDigits[group & 15];
  return to;
}

}  // namespace

bool ReadIpv6(std::string_view text, std::uint8_t* to) {
  std::array<std::uint8_t, kBytes> bytes{};
  constexpr std::size_t kNoGap = kBytes + 1;
  std::size_t used = 0;      // of bytes
  std::size_t gap = kNoGap;  // where "::" stands
  std::size_t at = 0;
  if (text.starts_with(':')) {
    if (!text.starts_with("::")) return false;
    gap = 0;
    at = 2;
  }
  while (at < text.size()) {
    const std::size_t start = at;
    unsigned value = 0;
    for (int digit = 0; at < text.size() && (digit = HexDigit(text[at])) >= 0; ++at) {
      value = value << 4 | static_cast<unsigned>(digit);
    }
    if (at < text.size() && text[at] == '.') {
      if (used > bytes.size() - 4 || !ReadIpv4(text.substr(start), &bytes[used])) return false;
      used += 4;
      break;
    }
    if (at == start || at - start > 4 || used == bytes.size()) return false;
    bytes[used++] = static_cast<std::uint8_t>(value >> 8);
    bytes[used++] = static_cast<std::uint8_t>(value);
    if (at == text.size()) break;
    if (text[at++] != ':' || at == text.size()) return false;  // a single colon at the end
    if (text[at] != ':') continue;
    if (gap != kNoGap) return false;
    gap = used;
    ++at;
  }
  if (gap == kNoGap) {
    if (used != bytes.size()) return false;
  } else {
    if (used == bytes.size()) return false;  // "::" stands for one group at least
    std::copy_backward(&bytes[gap], &bytes[used], bytes.data() + bytes.size());
    std::fill(&bytes[gap], &bytes[gap] + (bytes.size() - used), std::uint8_t{0});
  }
  std::memcpy(to, bytes.data(), bytes.size());
  return true;
}

char* WriteIpv4(const std::uint8_t* from, char* to) {
  to = WriteDecimal(std::uint64_t{from[0]}, to);
  for (int i = 1; i < 4; ++i) {
    *to++ = '.';
    to = WriteDecimal(std::uint64_t{from[i]}, to);
  }
  return to;
}

char* WriteIpv6(const std::uint8_t* from, char* to) {
  std::array<unsigned, kGroups> groups{};
  for (std::size_t i = 0; i < groups.size(); ++i) {
    groups[i] = static_cast<unsigned>(from[2 * i] << 8 | from[2 * i + 1]);
  }
  const Run zeros = LongestZeros(groups);
  // Those that hold an address of IPv4 are written with it.
  const bool holds_v4 =
      zeros.begin == 0 && (zeros.size == 6 || (zeros.size == 5 && groups[5] == 0xFFFF));
  for (int i = 0; i < (holds_v4 ? 6 : kGroups);) {
    if (i == zeros.begin) {
      *to++ = ':';
      i += zeros.size;
      if (i == kGroups) *to++ = ':';
      continue;
    }
    if (i > 0) *to++ = ':';
    to = WriteHex(groups[static_cast<std::size_t>(i++)], to);
  }
  if (!holds_v4) return to;
  *to++ = ':';
  return WriteIpv4(from + 12, to);
}

}  // namespace weir::rule
