// Sliding window: two counters that together look like a window that slides.
// docs/algorithms/sliding_window.md
//
//        previous: 8          current: 3
//   |-------------------|-------------------|        seen from now, 40 % of the previous window is
//               |<---- the period ---->|now          still in view: 8 * 0.4 + 3 = 6.2 are used
//
// Nothing is rounded: the sum is kept as a multiple of 1/period and compared with the limit times
// the period. The state is the number of the current window and the two counts: one word where they
// fit, two where they do not.
#pragma once

#include <cstddef>
#include <cstdint>

#include "algorithm/state.h"
#include "algorithm/windows.h"
#include "weir/decision.h"
#include "weir/limit.h"

namespace weir::algorithm {

class SlidingWindow {
 public:
  static Result<SlidingWindow> Make(const weir::SlidingWindow& limit, std::uint32_t soft_percent);

  [[nodiscard]] std::size_t words() const { return packed_ ? 1 : 2; }

  Decision Admit(State& state, Permits cost, Instant now) const;
  Decision Charge(State& state, Permits cost, Instant now) const;
  void Refund(State& state, Permits cost, Instant now, Instant taken) const;
  void Carry(const SlidingWindow& old, const State& from, State& to, Instant now) const;
  // Permits used as of now, rounded up, those above the limit included.
  [[nodiscard]] std::uint64_t Used(const State& state, Instant now) const;
  [[nodiscard]] std::uint64_t ForgottenIn(const State& state, Instant now) const;
  [[nodiscard]] std::uint64_t Memory() const { return 2 * period_; }

 private:
  struct Held {
    std::uint64_t number;  // of the current window, or of one ahead that was reserved
    std::uint64_t start_ns;
    std::uint64_t previous;
    std::uint64_t current;
  };

  explicit SlidingWindow(Windows windows) : windows_(std::move(windows)) {}

  [[nodiscard]] Held Load(const State& state, std::uint64_t now_ns) const;
  void Store(State& state, const Held& held) const;
  // The earliest instant, not before `at`, at which `cost` fits.
  [[nodiscard]] std::uint64_t FitsAt(const Held& held, std::uint64_t cost, std::uint64_t at) const;
  [[nodiscard]] std::uint64_t RemainingIn(const Held& held, std::uint64_t now_ns) const;
  [[nodiscard]] std::uint64_t ResetIn(const Held& held, std::uint64_t now_ns) const;

  Windows windows_;
  std::uint64_t period_ = 0;
  std::uint64_t nominal_ = 0;
  std::uint64_t most_ = 0;  // with what a soft limit lets through above it
  bool packed_ = true;      // number and counts in one word
  int count_bits_ = 32;     // of each counter
};

}  // namespace weir::algorithm
