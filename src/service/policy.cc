#include "service/policy.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <variant>

namespace weir {
namespace {

Nanos LengthOf(const Calendar& calendar) {
  constexpr std::array<int, 4> kDays = {1, 7, 30, 365};
  return std::chrono::hours(24) * kDays[static_cast<std::size_t>(calendar.unit)];
}

struct Visitor {
  Policy operator()(const FixedWindow& limit) const {
    const auto* window = std::get_if<Nanos>(&limit.window);
    return {limit.permits,
            window != nullptr ? *window : LengthOf(std::get<Calendar>(limit.window))};
  }
  template <typename WithQuota>
  Policy operator()(const WithQuota& limit) const {
    return {limit.quota.permits(), limit.quota.period()};
  }
};

}  // namespace

Policy PolicyOf(const Limit& limit) { return std::visit(Visitor{}, limit.parts()[0]); }

std::string PolicyText(const Limit& limit) {
  const Policy policy = PolicyOf(limit);
  const std::int64_t seconds = std::max<std::int64_t>(SecondsUp(policy.window), 0);
  return ";q=" + std::to_string(FittingField(policy.quota)) + ";w=" + std::to_string(seconds);
}

}  // namespace weir
