// The time at a store, as a host can know it: never later than the store itself would say.
//
// An answer says what time it was when it was made. Since then the host's own clock has gone on; of
// that, a little is taken off, because two clocks differ by up to 500 millionths.
//
// Pure: all instants are arguments.
#pragma once

#include <algorithm>

#include "weir/units.h"

namespace weir::authority {

class StrictClock {
 public:
  // The store said `there` in answer to what was sent at `sent`, and has just come in.
  void Learn(Instant there, Instant sent, Instant now) {
    // What was known holds on if it did when the question was sent: then both are too early, and
    // the later one is closer. If it did not, the clock of the store was set back.
    const bool holds = is_known_ && At(sent) <= there;
    there_ = holds ? std::max(At(now), there) : there;
    here_ = now;
    is_known_ = true;
  }

  [[nodiscard]] bool is_known() const { return is_known_; }
  // REQUIRES: is_known()
  [[nodiscard]] Instant At(Instant now) const {
    const Nanos passed = std::max(now - here_, Nanos(0));
    return there_ + passed - passed / kDrift;
  }

 private:
  static constexpr int kDrift = 2'000;

  bool is_known_ = false;
  Instant there_{};
  Instant here_{};
};

}  // namespace weir::authority
