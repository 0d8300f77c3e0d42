#include "algorithm/windows.h"

#include <absl/time/civil_time.h>
#include <absl/time/time.h>

#include <algorithm>
#include <string>

#include "base/wide_math.h"

namespace weir::algorithm {
namespace {

constexpr std::uint64_t kHourNs = 3'600'000'000'000;
constexpr std::uint64_t kDayNs = 24 * kHourNs;

// Window numbers are never negative: they count from a Monday, the 29th of December 1969, or from
// that year, so that instants near the epoch are fine in zones behind Greenwich too.
constexpr absl::CivilDay kFirstDay(1969, 12, 29);
constexpr int kFirstYear = 1969;

std::uint64_t Number(absl::CivilSecond local, CalendarUnit unit) {
  const absl::CivilDay day(local);
  switch (unit) {
    case CalendarUnit::kDay:
      return static_cast<std::uint64_t>(day - kFirstDay);
    case CalendarUnit::kWeek:
      return static_cast<std::uint64_t>(day - kFirstDay) / 7;
    case CalendarUnit::kMonth:
      return static_cast<std::uint64_t>((day.year() - kFirstYear) * 12 + day.month() - 1);
    case CalendarUnit::kYear:
      return static_cast<std::uint64_t>(day.year() - kFirstYear);
  }
  return 0;
}

absl::CivilDay FirstDayOf(std::uint64_t number, CalendarUnit unit) {
  const auto n = static_cast<std::int64_t>(number);
  switch (unit) {
    case CalendarUnit::kDay:
      return kFirstDay + n;
    case CalendarUnit::kWeek:
      return kFirstDay + 7 * n;
    case CalendarUnit::kMonth:
      return absl::CivilDay(kFirstYear, 1 + n, 1);
    case CalendarUnit::kYear:
      return absl::CivilDay(kFirstYear + n, 1, 1);
  }
  return kFirstDay;
}

}  // namespace

struct Windows::Zone {
  absl::TimeZone zone;
  CalendarUnit unit;

  [[nodiscard]] std::uint64_t StartOf(std::uint64_t number) const {
    // Where a clock change skips or repeats midnight, the window starts at the earlier reading.
    const absl::TimeZone::TimeInfo info = zone.At(absl::CivilSecond(FirstDayOf(number, unit)));
    const std::int64_t ns = absl::ToUnixNanos(info.pre < info.trans ? info.pre : info.trans);
    return ns > 0 ? static_cast<std::uint64_t>(ns) : 0;
  }
};

Windows Windows::Equal(Nanos period, std::uint32_t parts) {
  Windows windows;
  windows.period_ns_ = static_cast<std::uint64_t>(period.count());
  windows.parts_ = parts;
  windows.longest_ns_ = CeilDiv(windows.period_ns_, std::uint64_t{parts});
  windows.shortest_ns_ = windows.period_ns_ / parts;
  return windows;
}

Result<Windows> Windows::Of(const Calendar& calendar) {
  absl::TimeZone zone;
  if (calendar.zone.empty() || !absl::LoadTimeZone(calendar.zone, &zone)) {
    return Error{"unknown time zone '" + calendar.zone +
                 "': use a name such as Europe/Berlin or UTC (and have tzdata installed)"};
  }
  Windows windows;
  windows.zone_ = std::make_shared<const Zone>(Zone{zone, calendar.unit});
  // Days of 23 to 25 hours exist; a few places once shifted by a whole day.
  switch (calendar.unit) {
    case CalendarUnit::kDay:
      windows.longest_ns_ = 2 * kDayNs;
      break;
    case CalendarUnit::kWeek:
      windows.longest_ns_ = 8 * kDayNs;
      break;
    case CalendarUnit::kMonth:
      windows.longest_ns_ = 32 * kDayNs;
      break;
    case CalendarUnit::kYear:
      windows.longest_ns_ = 367 * kDayNs;
      break;
  }
  windows.shortest_ns_ = 12 * kHourNs;
  return windows;
}

Windows::Span Windows::At(std::uint64_t now_ns) const {
  if (zone_ != nullptr) {
    const absl::Time now = absl::FromUnixNanos(static_cast<std::int64_t>(now_ns));
    std::uint64_t number = Number(zone_->zone.At(now).cs, zone_->unit);
    // A clock that is set back over midnight repeats an hour of yesterday: it belongs to today.
    if (zone_->StartOf(number + 1) <= now_ns) ++number;
    return {number, zone_->StartOf(number), zone_->StartOf(number + 1)};
  }
  if (parts_ == 1) {
    const std::uint64_t number = now_ns / period_ns_;
    const std::uint64_t start = number * period_ns_;
    return {number, start, SatAdd(start, period_ns_)};
  }
  const auto number = static_cast<std::uint64_t>(Mul(now_ns, parts_) / period_ns_);
  return {number, StartOf(number), StartOf(number + 1)};
}

std::uint64_t Windows::StartOf(std::uint64_t number) const {
  if (zone_ != nullptr) return zone_->StartOf(number);
  if (parts_ == 1) return Saturate(Mul(number, period_ns_));
  return Saturate(CeilDiv(Mul(number, period_ns_), Uint128{parts_}));
}

}  // namespace weir::algorithm
