#include "base/text.h"

#include <array>
#include <charconv>
#include <limits>

#include "base/wide_math.h"

namespace weir {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t nanos;
};
// Largest first, as they are written; "min" is read but not written.
constexpr std::array<Unit, 8> kUnits = {{{"d", 86'400'000'000'000},
                                         {"h", 3'600'000'000'000},
                                         {"m", 60'000'000'000},
                                         {"s", 1'000'000'000},
                                         {"ms", 1'000'000},
                                         {"us", 1'000},
                                         {"ns", 1},
                                         {"min", 60'000'000'000}}};

}  // namespace

std::vector<std::string_view> SplitWords(std::string_view line) {
  constexpr std::string_view kBlanks = " \t\r";
  std::vector<std::string_view> words;
  for (std::size_t from = line.find_first_not_of(kBlanks); from != std::string_view::npos;) {
    const std::size_t to = line.find_first_of(kBlanks, from);
    words.push_back(line.substr(from, to - from));
    from = to == std::string_view::npos ? to : line.find_first_not_of(kBlanks, to);
  }
  return words;
}

Result<std::uint64_t> ParseCount(std::string_view text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  if (problem == std::errc::result_out_of_range) {
    return Error{"'" + std::string(text) + "' is too large: the largest number is " +
                 std::to_string(kMaxUint64)};
  }
  if (text.empty() || problem != std::errc{} || stop != end) {
    return Error{"expected a whole number of 0 or more, got '" + std::string(text) + "'"};
  }
  return value;
}

Result<Nanos> ParseDuration(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::string_view unit = text.substr(digits);
  for (const Unit& known : kUnits) {
    if (known.name != unit) continue;
    std::uint64_t count = 1;
    if (digits > 0) {
      const Result<std::uint64_t> number = ParseCount(text.substr(0, digits));
      if (!number) return number.error();
      count = *number;
    }
    const Uint128 nanos = Mul(count, known.nanos);
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (nanos > kMost) {
      return Error{"'" + std::string(text) + "' is too long: the longest duration is 292 years"};
    }
    return Nanos(static_cast<std::int64_t>(nanos));
  }
  return Error{"expected a duration such as 250ms (units: ns us ms s m h d), got '" +
               std::string(text) + "'"};
}

std::string FormatDuration(Nanos duration) {
  if (duration == Nanos(0)) return "0s";
  if (duration < Nanos(0)) {
    if (duration == Nanos::min()) return "-" + FormatDuration(Nanos::max());
    return "-" + FormatDuration(-duration);
  }
  const auto nanos = static_cast<std::uint64_t>(duration.count());
  for (const Unit& unit : kUnits) {
    if (nanos % unit.nanos == 0) return std::to_string(nanos / unit.nanos) + std::string(unit.name);
  }
  return std::to_string(nanos) + "ns";
}

}  // namespace weir
