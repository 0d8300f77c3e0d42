// Taking from the states of several keys, all or nothing: what Ledger::TakeAll() does, on copies.
#pragma once

#include <span>

#include "authority/strict_limit.h"
#include "authority/strict_state.h"
#include "weir/decision.h"
#include "weir/units.h"

namespace weir::authority {

struct StrictTake {
  StrictState* state = nullptr;  // two of them may share one
  const StrictLimit* limit = nullptr;
  Permits cost{};
  Decision* decision = nullptr;  // what it had to say
};

// Whether it was taken. If not, nothing is charged, except where refusals count.
bool TakeFromAll(std::span<const StrictTake> takes, Instant now);
void PeekAtAll(std::span<const StrictTake> takes, Instant now);

}  // namespace weir::authority
