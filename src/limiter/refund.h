// Giving back more than one step can.
#pragma once

#include "weir/units.h"

namespace weir {

// `refund(cost)` gives back what one step can and says how much that was.
template <typename Refund>
void RefundInSteps(Permits cost, const Refund& refund) {
  while (cost.count > 0) {
    const Permits given = refund(cost);
    if (given.count == 0) return;
    cost.count -= given.count;
  }
}

}  // namespace weir
