// What a strict host goes on with while nobody answers: a copy of the state it saw last, of which
// it takes its own part.
//
// Nothing is known of the others, so they are taken to go on as they did: if half of what was taken
// lately was taken by this host, whatever it takes counts twice. So hosts that are cut off admit
// together about what the limit says, whatever its algorithm is. Where one request of a small part
// would count more than the limit ever holds, it counts as much as the limit holds.
//
// Pure: time is an argument.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "authority/strict_limit.h"
#include "authority/strict_state.h"
#include "base/wide_math.h"
#include "weir/decision.h"
#include "weir/units.h"

namespace weir::authority {

class StrictLocal {
 public:
  // `own` of all that was taken lately from `state` was taken here; 0: the whole limit is its own.
  StrictLocal(StrictState state, std::uint64_t own, Instant now)
      : state_(std::move(state)), own_(own), all_(state_.recent_takes().Total(now)) {
    if (own_ == 0 || all_ <= own_) own_ = all_ = 1;
  }

  // As the verbs of StrictState.
  Decision Peek(const StrictLimit& limit, Permits cost, Instant now) {
    return Own(limit, state_.Peek(limit.written(), WithOthers(limit, cost, now).permits, now));
  }
  Decision Take(const StrictLimit& limit, Permits cost, Instant now) {
    const Charge charge = WithOthers(limit, cost, now);
    const Decision decision = state_.Take(limit.written(), charge.permits, now);
    if (decision.allowed()) rest_ = charge.rest;
    return Own(limit, decision);
  }

 private:
  struct Charge {
    Permits permits;
    std::uint64_t rest;  // of a permit, in parts of own_: is charged with the next
  };
  Charge WithOthers(const StrictLimit& limit, Permits cost, Instant now) {
    const Uint128 all = Mul(cost.count, all_) + rest_;
    Charge charge{Permits{Saturate(all / own_)}, static_cast<std::uint64_t>(all % own_)};
    while (charge.permits > cost && IsNever(limit, charge.permits, now)) {
      charge = {Permits{std::max(cost.count, charge.permits.count / 2)}, 0};
    }
    return charge;
  }
  bool IsNever(const StrictLimit& limit, Permits cost, Instant now) {
    return state_.Peek(limit.written(), cost, now).verdict == Verdict::kNever;
  }
  // Where refusals count, what is told is how much was counted, and that is of all.
  [[nodiscard]] Decision Own(const StrictLimit& limit, Decision decision) const {
    if (limit.plan().counts_refusals()) return decision;
    decision.remaining.count = Saturate(Mul(decision.remaining.count, own_) / all_);
    return decision;
  }

  StrictState state_;
  std::uint64_t own_;
  std::uint64_t all_;
  std::uint64_t rest_ = 0;
};

}  // namespace weir::authority
