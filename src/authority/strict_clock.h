// The time at a store, as a host can know it: not before, and not after.
//
// An answer says what time it was when it was made, which was after the question was sent and
// before the answer came in. Since then the host's own clock has gone on; two clocks differ in pace
// by some hundred millionths.
//
//     earliest    what is decided at that time is never decided too early
//     latest      what is refused at that time is refused for certain
//
// Pure: all instants are arguments.
#pragma once

#include <algorithm>
#include <cstdint>

#include "weir/units.h"

namespace weir::authority {

class StrictClock {
 public:
  // Of so many nanoseconds that pass here, one more or one less passes there.
  explicit StrictClock(std::int64_t pace) : pace_(pace) {}

  // The store said `there` in answer to what was sent at `sent`, and has just come in.
  void Learn(Instant there, Instant sent, Instant now) {
    // If what was known held when the question was sent, it holds still, and the narrower of two
    // bounds is the better one. If it did not, the clock of the store was set.
    const bool holds = is_known_ && EarliestAt(sent) <= there && there <= LatestAt(now);
    const Instant latest = there + std::max(now - sent, Nanos(0));
    earliest_ = holds ? std::max(EarliestAt(now), there) : there;
    latest_ = holds ? std::min(LatestAt(now), latest) : latest;
    here_ = now;
    is_known_ = true;
  }

  [[nodiscard]] bool is_known() const { return is_known_; }
  // REQUIRES: is_known()
  [[nodiscard]] Instant EarliestAt(Instant now) const {
    const Nanos passed = std::max(now - here_, Nanos(0));
    return earliest_ + passed - passed / pace_;
  }
  [[nodiscard]] Instant LatestAt(Instant now) const {
    const Nanos passed = std::max(now - here_, Nanos(0));
    return latest_ + passed + passed / pace_;
  }

 private:
  std::int64_t pace_;
  bool is_known_ = false;
  Instant earliest_{};
  Instant latest_{};
  Instant here_{};
};

}  // namespace weir::authority
