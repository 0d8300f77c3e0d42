// Waiting for permits in coroutines: co_await weir::Acquire(limiter, timers, weir::Permits{1});
//
// The limiter has no threads and no timers of its own; whoever runs the coroutines has. Anything
// that can call back at an instant will do (see Timers); TimerQueue is one for event loops that
// have none.
//
// First come, first served: a place in line is taken when the co_await is reached. A coroutine that
// is destroyed while it waits gives its permits back.
#pragma once

#include <concepts>
#include <coroutine>
#include <map>
#include <optional>
#include <utility>

#include "weir/decision.h"
#include "weir/reservation.h"
#include "weir/units.h"

namespace weir {

// Something that waits for an instant. It is its own entry in the queue: waiting allocates nothing
// here, and calling off is cheap.
class Sleeper {
 public:
  virtual void Wake() = 0;

 protected:
  ~Sleeper() = default;
};

template <typename T>
concept Timers = requires(T& timers, Instant at, Sleeper& sleeper) {
  { timers.Now() } -> std::convertible_to<Instant>;
  timers.Arm(at, sleeper);
  timers.Disarm(sleeper);  // before it was woken
};

// Sleepers by the instant they are to be woken at, in the order they came. For one thread.
class TimerQueue {
 public:
  [[nodiscard]] Instant Now() const { return now_ ? *now_ : Clock::now(); }
  void Arm(Instant at, Sleeper& sleeper) { sleepers_.emplace(at, &sleeper); }
  void Disarm(Sleeper& sleeper) {
    for (auto it = sleepers_.begin(); it != sleepers_.end(); ++it) {
      if (it->second != &sleeper) continue;
      sleepers_.erase(it);
      return;
    }
  }

  // When to call RunDue() next; nothing if nobody sleeps.
  [[nodiscard]] std::optional<Instant> NextDue() const {
    if (sleepers_.empty()) return std::nullopt;
    return sleepers_.begin()->first;
  }
  // Wakes everybody whose instant has come. Time passes only here if `now` is given.
  void RunDue() { Wake(Clock::now()); }
  void RunDue(Instant now) {
    now_ = now;
    Wake(now);
  }

 private:
  void Wake(Instant now) {
    while (!sleepers_.empty() && sleepers_.begin()->first <= now) {
      Sleeper* sleeper = sleepers_.begin()->second;
      sleepers_.erase(sleepers_.begin());
      sleeper->Wake();
    }
  }

  std::optional<Instant> now_;
  std::multimap<Instant, Sleeper*> sleepers_;
};

template <typename L, Timers T>
class Acquisition final : private Sleeper {
 public:
  Acquisition(L limiter, T& timers, Permits cost, Nanos patience)
      : limiter_(limiter), timers_(timers), cost_(cost), patience_(patience) {}
  ~Acquisition() {
    if (!waiting_) return;
    timers_.Disarm(*this);
    limiter_.Cancel(reservation_, timers_.Now());
  }
  Acquisition(const Acquisition&) = delete;
  Acquisition& operator=(const Acquisition&) = delete;

  bool await_ready() {
    asked_ = timers_.Now();
    reservation_ = limiter_.Reserve(cost_, patience_, asked_);
    return !reservation_ || reservation_.wait() <= Nanos(0);
  }
  void await_suspend(std::coroutine_handle<> waiter) {
    waiter_ = waiter;
    waiting_ = true;
    timers_.Arm(asked_ + reservation_.wait(), *this);
  }
  // Refused at once if the permits cannot be had within the patience.
  Decision await_resume() const noexcept { return reservation_.decision; }

 private:
  void Wake() override {
    waiting_ = false;
    waiter_.resume();
  }

  L limiter_;
  T& timers_;
  Permits cost_;
  Nanos patience_;
  Instant asked_{};
  Reservation reservation_;
  std::coroutine_handle<> waiter_;
  bool waiting_ = false;
};

// `limiter` is a Limiter, or KeyedLimiter::At() of one; both it and `timers` outlive the wait.
template <typename L, Timers T>
[[nodiscard]] auto Acquire(L&& limiter, T& timers, Permits cost = Permits{1},
                           Nanos patience = Nanos::max()) {
  return Acquisition<L, T>(std::forward<L>(limiter), timers, cost, patience);
}

}  // namespace weir
