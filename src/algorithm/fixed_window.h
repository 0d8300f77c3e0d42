// Fixed window: a counter per window. docs/algorithms/fixed_window.md
//
//      window 41        window 42        window 43
//   |----------------|----------------|----------------|
//      used 7 of 10     used 10 of 10    used 0 of 10
//
// The state is the window and what was used in it. What is charged above the limit is owed, and
// paid from the windows that follow; a reservation is simply a window that has not begun yet.
//
// Windows that follow the epoch or the calendar are numbered, and number and count share one word.
// Windows that start with the first request have a start of their own and take two.
#pragma once

#include <cstddef>
#include <cstdint>

#include "algorithm/state.h"
#include "algorithm/windows.h"
#include "base/time.h"
#include "weir/decision.h"
#include "weir/limit.h"

namespace weir::algorithm {

class FixedWindow {
 public:
  static Result<FixedWindow> Make(const weir::FixedWindow& limit, std::uint32_t soft_percent);

  [[nodiscard]] std::size_t words() const { return start_ == WindowStart::kEpoch ? 1 : 2; }

  Decision Admit(State& state, Permits cost, Instant now) const;
  Decision Charge(State& state, Permits cost, Instant now) const;
  // `taken` is when the permits were taken: a window that is over has nothing to give back to.
  void Refund(State& state, Permits cost, Instant now, Instant taken) const;
  // What was used under `old` is written to the zeroed words of `to`.
  void Carry(const FixedWindow& old, const State& from, State& to, Instant now) const;
  // Permits used as of now, those that are owed included.
  [[nodiscard]] std::uint64_t Used(const State& state, Instant now) const {
    return Load(state, ToNanos(now)).used;
  }
  [[nodiscard]] std::uint64_t ForgottenIn(const State& state, Instant now) const;
  [[nodiscard]] std::uint64_t Memory() const { return windows_.longest_ns(); }

 private:
  // The window that counts at an instant: the current one, or one ahead that was reserved.
  struct Held {
    Windows::Span window;
    std::uint64_t used;
  };

  FixedWindow(Windows windows, WindowStart start) : windows_(std::move(windows)), start_(start) {}

  [[nodiscard]] Held Load(const State& state, std::uint64_t now_ns) const;
  void Store(State& state, const Held& held) const;
  // The start of the window `count` windows after the held one.
  [[nodiscard]] std::uint64_t StartAfter(const Held& held, std::uint64_t count) const;
  [[nodiscard]] std::uint64_t ResetIn(const Held& held, std::uint64_t now_ns) const;
  [[nodiscard]] std::uint64_t RemainingIn(const Held& held, std::uint64_t now_ns) const;

  Windows windows_;
  WindowStart start_;
  Denied denied_ = Denied::kIgnored;
  int used_bits_ = 63;  // of the word; the rest is the window's number
  std::uint64_t nominal_ = 0;
  std::uint64_t most_ = 0;  // with what a soft limit lets through above it
};

}  // namespace weir::algorithm
