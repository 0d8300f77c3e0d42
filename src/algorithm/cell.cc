#include "algorithm/cell.h"

#include <algorithm>

#include "base/wide_math.h"

namespace weir::algorithm {
Result<Cell> Cell::Of(Permits burst, Permits count, Nanos period) {
  if (burst.count < 1) return Error{"the burst must be at least 1"};
  if (count.count < 1) return Error{"the count must be at least 1"};
  if (period < Nanos(1)) return Error{"the period must be longer than 0"};
  const Uint128 ticks = Uint128{static_cast<std::uint64_t>(period.count())} * kPerNano;
  // Of 64 bits where that is enough: a division of 128 is a call.
  const Uint128 interval = ticks <= kMaxUint64
                               ? CeilDiv(static_cast<std::uint64_t>(ticks), count.count)
                               : CeilDiv(ticks, Uint128{count.count});
  if (interval > kMost) return Error{"one permit takes longer than can be counted"};
  const auto capacity =
      static_cast<std::uint64_t>(std::min<Uint128>(interval * burst.count, kMost));
  return Cell(burst, static_cast<std::uint64_t>(interval), capacity);
}

}  // namespace weir::algorithm
