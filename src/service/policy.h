// What a limit says of itself to clients: so many in so long, and when there is more.
#pragma once

#include "weir/decision.h"
#include "weir/limit.h"
#include "weir/units.h"

namespace weir {

struct Policy {
  Permits quota;
  Nanos window;
};

// Of a limit with one part, or of its first. Months and years of a calendar count as 30 and 365
// days.
Policy PolicyOf(const Limit& limit);

// After a refusal, when to retry; otherwise, when all of it is back. Nanos::max(): never.
constexpr Nanos UntilMore(const Decision& decision) {
  return decision.allowed() ? decision.reset_after : decision.retry_after;
}

}  // namespace weir
