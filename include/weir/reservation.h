// A place in line: permits that were taken now, to be used after a wait.
#pragma once

#include "weir/decision.h"
#include "weir/units.h"

namespace weir {

// Made by Reserve(). It is a plain value and lapses silently: the permits stay taken unless the
// limiter's Cancel() gets it back.
struct Reservation {
  Decision decision;  // refused reservations took nothing
  Permits cost{};     // what was taken, and what Cancel() gives back
  Instant taken{};    // the instant it counts for

  [[nodiscard]] bool allowed() const noexcept { return decision.allowed(); }
  explicit operator bool() const noexcept { return allowed(); }
  [[nodiscard]] Nanos wait() const noexcept { return decision.wait; }
};

// What a limiter had left, where less than everything is fine too.
struct Partial {
  Permits taken{};
  Decision decision;
};

}  // namespace weir
