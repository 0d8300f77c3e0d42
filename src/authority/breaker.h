// Whether it is worth asking: a circuit breaker, as a pure state machine.
//
//            3 failures in a row, or more than half       a probe succeeds
//            of at least 20 within a second             +-------------------+
//     closed ------------------------------------> open |                   |
//        ^                                          |   v                   |
//        |                              after about a second: probing, one request each 100 ms
//        +------------------------------------------+
//
// While it is open nobody waits for a deadline: the failure policy answers at once. Times are
// jittered, so that a fleet does not come back all at the same moment.
#pragma once

#include <chrono>
#include <cstdint>

#include "weir/units.h"

namespace weir::authority {

struct BreakerOptions {
  int failures_in_a_row = 3;
  int least_in_window = 20;
  Nanos window = std::chrono::seconds(1);
  Nanos open_for = std::chrono::seconds(1);
  Nanos probe_every = std::chrono::milliseconds(100);
};

class Breaker {
 public:
  enum class State : std::uint8_t { kClosed, kOpen, kProbing };

  Breaker(const BreakerOptions& options, std::uint64_t seed) : options_(options), chance_(seed) {}

  // Whether a request may be sent now. One that is sent is told by Succeeded() or Failed().
  bool Admits(Instant now);
  void Succeeded(Instant now);
  void Failed(Instant now);

  [[nodiscard]] State state() const { return state_; }
  // When it will admit again; now or earlier if it does already.
  [[nodiscard]] Instant next() const { return next_; }

 private:
  void Count(Instant now, bool has_failed);
  void Open(Instant now);
  Nanos Jittered(Nanos time);

  BreakerOptions options_;
  std::uint64_t chance_;
  State state_ = State::kClosed;
  Instant next_{};
  Instant window_end_{};
  int in_a_row_ = 0;
  int asked_ = 0;   // in this window
  int failed_ = 0;  // likewise
};

}  // namespace weir::authority
