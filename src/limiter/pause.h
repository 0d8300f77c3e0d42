// Sleeping that can be called off.
#pragma once

#include <stop_token>

#include "weir/reservation.h"
#include "weir/units.h"

namespace weir {

enum class Pause { kOver, kStopped };

// Returns when `duration` is over, or earlier if the token says stop.
Pause PauseFor(Nanos duration, const std::stop_token& stop);

// Sits a reservation out. If it is told to stop it gives the reservation back through `cancel` and
// returns a refusal.
template <typename Cancel>
Decision WaitFor(Reservation& reservation, const std::stop_token& stop, Cancel cancel) {
  if (!reservation || reservation.wait() <= Nanos(0)) return reservation.decision;
  if (PauseFor(reservation.wait(), stop) == Pause::kStopped) {
    reservation.decision.verdict = Verdict::kDeny;
    reservation.decision.retry_after = reservation.decision.wait;
    cancel(reservation);
  }
  return reservation.decision;
}

}  // namespace weir
