// What a peer may make us do without asking for anything: pings, settings, calls begun and taken
// back. Cheap to send, not free to answer.
//
// The generic cell rate algorithm, on ourselves: each frame costs time, time pays it back, and an
// answered call pays for the frames that clients send along with it.
#pragma once

#include <algorithm>
#include <chrono>

#include "weir/units.h"

namespace weir::wire {

class FloodGuard {
 public:
  static constexpr Nanos kFrame = std::chrono::milliseconds(1);
  static constexpr Nanos kReset = std::chrono::milliseconds(10);
  static constexpr Nanos kMost = std::chrono::seconds(10);

  // False: it is too much.
  bool Charge(Nanos cost, Instant now) {
    paid_at_ = std::max(paid_at_, now) + cost;
    return paid_at_ - now <= kMost;
  }
  void Earn(Nanos worth) { paid_at_ -= worth; }

 private:
  Instant paid_at_{};  // when all is paid back
};

}  // namespace weir::wire
