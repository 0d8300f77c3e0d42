// Elastic throttling: above the limit while there is room.
#pragma once

#include <functional>

#include "weir/decision.h"

namespace weir {

// Lets a refused request through if the load signal says that there is room. It is not charged, so
// that its client is back at its ordinary limit the moment the room is gone.
inline void Stretch(Decision& refusal, const std::function<bool()>& has_room) {
  if (!has_room || !has_room()) return;
  refusal.verdict = Verdict::kAllow;
  refusal.grace = Grace::kElastic;
  refusal.retry_after = Nanos(0);
}

}  // namespace weir
