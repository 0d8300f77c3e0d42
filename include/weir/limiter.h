// One limiter for everybody who calls it.
//
//   weir::Limiter limiter(weir::Quota::PerSecond(100).Burst(20));
//   if (limiter.Take()) Serve();
//
// Each verb exists twice: with the instant as the last argument, and without, reading the clock.
// Thread safety: all verbs may be called by any number of threads. A token or leaky bucket is a
// single word, changed by compare-and-swap, and refusing is a read; other algorithms take a lock.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>

#include "weir/decision.h"
#include "weir/limit.h"
#include "weir/reservation.h"
#include "weir/units.h"

namespace weir {

struct LimiterOptions {
  // Elastic throttling: asked only when a request would be refused. If it says that there is room,
  // the request goes through, marked Grace::kElastic, and nothing is charged for it.
  std::function<bool()> has_room = {};
};

class Limiter {
 public:
  // Throws std::invalid_argument if the limit makes no sense. (Limit::WhatIsWrong() asks first.)
  // What a limit does not start with (Quota::Initial) comes in from `created` on.
  explicit Limiter(const Limit& limit, LimiterOptions options = {}, Instant created = Clock::now());
  ~Limiter();
  Limiter(const Limiter&) = delete;
  Limiter& operator=(const Limiter&) = delete;

  // Takes `cost` permits if they are there. Costs of 0 look; costs above what the limit can ever
  // hold are Verdict::kNever.
  Decision Take(Permits cost = Permits{1}) noexcept;
  Decision Take(Permits cost, Instant now) noexcept;

  // Says what Take() would say, and takes nothing.
  [[nodiscard]] Decision Peek(Permits cost = Permits{1}) noexcept {
    return Peek(cost, Clock::now());
  }
  [[nodiscard]] Decision Peek(Permits cost, Instant now) noexcept;

  // Takes as many permits as are there, at most `cost`.
  Partial TakeUpTo(Permits cost) noexcept { return TakeUpTo(cost, Clock::now()); }
  Partial TakeUpTo(Permits cost, Instant now) noexcept;

  // Takes `cost` permits whether they are there or not, for work whose cost is known only when it
  // is done. What was not there is owed.
  Decision Charge(Permits cost) noexcept { return Charge(cost, Clock::now()); }
  Decision Charge(Permits cost, Instant now) noexcept;

  // Gives `cost` permits back; nothing is ever fuller than full.
  void Refund(Permits cost) noexcept { Refund(cost, Clock::now()); }
  void Refund(Permits cost, Instant now) noexcept;

  // Takes `cost` permits now for use as soon as they are there, if that is within `patience`. First
  // come, first served. The wait is in the reservation; sleeping is up to the caller.
  [[nodiscard]] Reservation Reserve(Permits cost, Nanos patience = Nanos::max()) noexcept {
    return Reserve(cost, patience, Clock::now());
  }
  [[nodiscard]] Reservation Reserve(Permits cost, Nanos patience, Instant now) noexcept;

  // Gives back exactly what the reservation took. Those behind it keep their times; who comes next
  // finds the permits. Cancelling twice gives back once.
  void Cancel(Reservation& reservation) noexcept { Cancel(reservation, Clock::now()); }
  void Cancel(Reservation& reservation, Instant now) noexcept;

  // Blocks until `cost` permits are there. Fails at once if that would be after the deadline; gives
  // its permits back if it is told to stop.
  Decision Wait(Permits cost, const std::stop_token& stop = {}, Instant deadline = Instant::max());

  // What was used stays used. Throws std::invalid_argument, and changes nothing, if the limit makes
  // no sense.
  void SetLimit(const Limit& limit);
  void SetLimit(const Limit& limit, Instant now);

 private:
  class State;

  std::unique_ptr<State> state_;
};

}  // namespace weir
