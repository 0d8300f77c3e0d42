// Lets each numbered message through once, for transports that may deliver one twice or late.
//
// Remembers the last 64 numbers; what is older is not let through, as if it had been lost.
#pragma once

#include <cstdint>

namespace weir::authority {

class Once {
 public:
  // Numbers count from 1, upwards.
  bool LetsThrough(std::uint64_t number) {
    if (number > last_) {
      const std::uint64_t ahead = number - last_;
      seen_ = ahead >= 64 ? 0 : seen_ << ahead;
      seen_ |= 1;
      last_ = number;
      return true;
    }
    const std::uint64_t behind = last_ - number;
    if (behind >= 64) return false;
    const std::uint64_t bit = std::uint64_t{1} << behind;
    if ((seen_ & bit) != 0) return false;
    seen_ |= bit;
    return true;
  }

 private:
  std::uint64_t last_ = 0;
  std::uint64_t seen_ = 0;  // bit i: last_ - i was let through
};

}  // namespace weir::authority
