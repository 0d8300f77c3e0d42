// How much was taken lately: in this minute and in the one before. Kept with a state for all hosts
// together, and by each host for itself; what a host goes on with when it is cut off is its part.
//
// Pure: time is an argument, by the clock of the store.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

#include "weir/units.h"

namespace weir::authority {

class RecentTakes {
 public:
  // As written down with a state.
  struct Written {
    std::uint32_t minute = 0;
    std::uint32_t taken = 0;
    std::uint32_t taken_before = 0;

    bool operator==(const Written&) const = default;
  };

  RecentTakes() = default;
  explicit RecentTakes(const Written& written) : in_(written) {}

  void Add(Permits permits, Instant at) {
    const std::uint32_t minute = MinuteOf(at);
    if (minute > in_.minute) {
      in_ = {minute, 0, minute == in_.minute + 1 ? in_.taken : 0};
    } else if (minute + 1 < in_.minute) {
      return;  // of another time, by a clock that is behind
    }
    std::uint32_t& sum = minute == in_.minute ? in_.taken : in_.taken_before;
    sum = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(permits.count, std::numeric_limits<std::uint32_t>::max() - sum) +
        sum);
  }

  [[nodiscard]] std::uint64_t Total(Instant at) const {
    const std::uint32_t minute = MinuteOf(at);
    if (minute > in_.minute + 1) return 0;
    return std::uint64_t{in_.taken} + (minute <= in_.minute ? in_.taken_before : 0);
  }

  [[nodiscard]] const Written& written() const { return in_; }

 private:
  static std::uint32_t MinuteOf(Instant at) {
    const auto minute = std::chrono::floor<std::chrono::minutes>(at.time_since_epoch()).count();
    return static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(minute, 0, std::numeric_limits<std::uint32_t>::max() - 1));
  }

  Written in_;
};

}  // namespace weir::authority
