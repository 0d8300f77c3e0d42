// The units that Envoy and its rate limit service speak of: "so many requests per unit".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "weir/units.h"

namespace weir {

// The numbers are those of Envoy's interface.
enum class LimitUnit : std::uint8_t {
  kUnknown = 0,  // a window that is none of the others
  kSecond = 1,
  kMinute = 2,
  kHour = 3,
  kDay = 4,
  kMonth = 5,  // 30 days
  kYear = 6,   // 365 days
  kWeek = 7,
};
inline constexpr std::size_t kLimitUnits = 8;

constexpr Nanos LengthOf(LimitUnit unit) {
  using std::chrono::hours;
  constexpr std::array<Nanos, kLimitUnits> kLengths = {
      Nanos(0),  std::chrono::seconds(1), std::chrono::minutes(1), hours(1),
      hours(24), hours(24) * 30,          hours(24) * 365,         hours(24) * 7};
  return kLengths[static_cast<std::size_t>(unit)];
}

constexpr LimitUnit UnitOf(Nanos window) {
  for (std::size_t i = 1; i < kLimitUnits; ++i) {
    if (LengthOf(static_cast<LimitUnit>(i)) == window) return static_cast<LimitUnit>(i);
  }
  return LimitUnit::kUnknown;
}

// "MINUTE", as Envoy's interface names it.
constexpr std::string_view NameOf(LimitUnit unit) {
  constexpr std::array<std::string_view, kLimitUnits> kNames = {
      "UNKNOWN", "SECOND", "MINUTE", "HOUR", "DAY", "MONTH", "YEAR", "WEEK"};
  return kNames[static_cast<std::size_t>(unit)];
}

}  // namespace weir
