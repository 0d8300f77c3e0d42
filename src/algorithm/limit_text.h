// Limits as text: `token_bucket 10/1s burst 3 + fixed_window 500/1h start first`. docs/traces.md
#pragma once

#include <string_view>

#include "weir/limit.h"

namespace weir::algorithm {

// Reads a limit. Where a part gives no algorithm ("20/1s burst 6"), it is the one that `current`
// has in its place.
Result<Limit> ParseLimit(std::string_view text, const Limit* current);

}  // namespace weir::algorithm
