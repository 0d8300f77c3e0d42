// When to try again to connect, as a function of how often that failed and of chance.
//
// The wait doubles with each failure, and chance takes up to half of it off: a server that comes
// back is not met by all its clients at once.
#pragma once

#include <algorithm>
#include <chrono>

#include "weir/units.h"

namespace weir::authority {

struct Reconnect {
  Nanos first = std::chrono::milliseconds(50);
  Nanos longest = std::chrono::seconds(2);

  // `failures` in a row, from 1; `chance` from 0 up to but not including 1.
  [[nodiscard]] Nanos WaitAfter(int failures, double chance) const {
    constexpr int kMostDoublings = 20;
    const int doublings = std::clamp(failures - 1, 0, kMostDoublings);
    const double wait = std::min(static_cast<double>(first.count()) * (1 << doublings),
                                 static_cast<double>(longest.count()));
    return Nanos(static_cast<Nanos::rep>(wait * (1 - chance / 2)));
  }
};

}  // namespace weir::authority
