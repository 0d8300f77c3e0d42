// Soft throttling: a percentage above the limit is let through, and marked.
#pragma once

#include <cstdint>

#include "base/wide_math.h"
#include "weir/units.h"

namespace weir::algorithm {

// 100 permits, 10 percent soft: 110. Rounded down, saturated.
constexpr Permits WithSoft(Permits permits, std::uint32_t percent) {
  return Permits{Saturate(Uint128{permits.count} + Mul(permits.count, percent) / 100)};
}

}  // namespace weir::algorithm
