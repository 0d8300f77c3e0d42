// The two commands whose limit comes with each request, read from their arguments.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "algorithm/cell.h"
#include "limiter/ledger.h"
#include "weir/result.h"

namespace weir {

struct CellCommand {
  using Arguments = std::span<const std::string_view>;

  // CL.THROTTLE: max_burst more than one at once; errors in redis-cell's words.
  static Result<CellCommand> OfRedisCell(Arguments arguments);
  // THROTTLE: max_burst at once; errors in throttlecrab's words.
  static Result<CellCommand> OfThrottlecrab(Arguments arguments);

  Decision Run(Ledger& ledger, Instant now) const;

  // How long the key will be remembered; 0 if it is not.
  static Nanos ForgottenIn(Ledger& ledger, std::string_view key, Instant now);
  static void Forget(Ledger& ledger, std::string_view key, Instant now);

  std::string_view key;
  algorithm::Cell cell;
  Permits quantity;
  std::int64_t limit;  // as it is told
};

}  // namespace weir
