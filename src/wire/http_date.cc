#include "wire/http_date.h"

#include <algorithm>
#include <chrono>
#include <span>

namespace weir::wire {
namespace {

constexpr std::string_view kForm = "Date: ddd, 00 mmm 0000 00:00:00 GMT\r\n";
constexpr std::string_view kDays = "SunMonTueWedThuFriSat";
constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";

// With as many digits as there is room for.
void Put(unsigned number, std::span<char> to) {
  for (std::size_t i = to.size(); i-- > 0; number /= 10) {
    to[i] = static_cast<char>('0' + number % 10);
  }
}

}  // namespace

void HttpDate::Format(Instant now) {
  using std::chrono::days;
  const auto second = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch());
  const std::chrono::sys_days day(std::chrono::floor<days>(second));
  const std::chrono::year_month_day date(day);
  const std::chrono::weekday weekday(day);
  const std::chrono::hh_mm_ss time(second - day.time_since_epoch());
  second_ = static_cast<std::uint64_t>(second.count()) * kSecond;

  const std::span<char> to(text_);
  std::copy(kForm.begin(), kForm.end(), to.begin());
  kDays.copy(&to[6], 3, std::size_t{3} * weekday.c_encoding());
  Put(static_cast<unsigned>(date.day()), to.subspan(11, 2));
  kMonths.copy(&to[14], 3, std::size_t{3} * (static_cast<unsigned>(date.month()) - 1));
  Put(static_cast<unsigned>(static_cast<int>(date.year())), to.subspan(18, 4));
  Put(static_cast<unsigned>(time.hours().count()), to.subspan(23, 2));
  Put(static_cast<unsigned>(time.minutes().count()), to.subspan(26, 2));
  Put(static_cast<unsigned>(time.seconds().count()), to.subspan(29, 2));
}

}  // namespace weir::wire
