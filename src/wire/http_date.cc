#include "wire/http_date.h"

#include <algorithm>
#include <chrono>

namespace weir::wire {
namespace {

constexpr std::string_view kForm = "Date: ddd, 00 mmm 0000 00:00:00 GMT\r\n";
constexpr std::string_view kDays = "SunMonTueWedThuFriSat";
constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";

template <std::size_t kDigits>
void Put(unsigned number, char* to) {
  for (std::size_t i = kDigits; i-- > 0; number /= 10) to[i] = static_cast<char>('0' + number % 10);
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

  char* to = text_.data();
  std::copy(kForm.begin(), kForm.end(), to);
  kDays.copy(to + 6, 3, std::size_t{3} * weekday.c_encoding());
  Put<2>(static_cast<unsigned>(date.day()), to + 11);
  kMonths.copy(to + 14, 3, std::size_t{3} * (static_cast<unsigned>(date.month()) - 1));
  Put<4>(static_cast<unsigned>(static_cast<int>(date.year())), to + 18);
  Put<2>(static_cast<unsigned>(time.hours().count()), to + 23);
  Put<2>(static_cast<unsigned>(time.minutes().count()), to + 26);
  Put<2>(static_cast<unsigned>(time.seconds().count()), to + 29);
}

}  // namespace weir::wire
