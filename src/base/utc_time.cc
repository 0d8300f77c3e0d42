#include "base/utc_time.h"

#include <array>
#include <cstdio>

namespace weir {
namespace {

using std::chrono::days;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::string_view kForm = "dddd-dd-ddTdd:dd:ddZ";  // d: a digit

std::string FormatDayAndTime(std::chrono::sys_seconds time) {
  const auto day = std::chrono::floor<days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  std::array<char, 64> text{};
  const int size = std::snprintf(
      text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
      static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
      static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
      static_cast<int>(clock.seconds().count()));
  return {text.data(), static_cast<std::size_t>(size)};
}

}  // namespace

std::string FormatUtc(std::chrono::sys_seconds time) { return FormatDayAndTime(time) + "Z"; }

std::string FormatUtc(std::chrono::sys_time<milliseconds> time) {
  const auto whole = std::chrono::floor<seconds>(time);
  const std::string rest = std::to_string(1000 + (time - whole).count());  // keeps leading zeros
  return FormatDayAndTime(whole) + "." + rest.substr(1) + "Z";
}

std::optional<std::chrono::sys_seconds> ParseUtc(std::string_view text) {
  if (text.size() != kForm.size()) return std::nullopt;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    if (kForm[i] == 'd' ? !is_digit : text[i] != kForm[i]) return std::nullopt;
  }
  const auto number = [&](std::size_t begin, std::size_t digits) {
    int value = 0;
    for (const char digit : text.substr(begin, digits)) value = 10 * value + (digit - '0');
    return value;
  };
  const std::chrono::year_month_day date{std::chrono::year(number(0, 4)),
                                         std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                         std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  const int hours = number(11, 2);
  const int minutes = number(14, 2);
  const int second = number(17, 2);
  if (!date.ok() || hours > 23 || minutes > 59 || second > 59) return std::nullopt;
  return std::chrono::sys_days(date) + std::chrono::hours(hours) + std::chrono::minutes(minutes) +
         seconds(second);
}

}  // namespace weir
