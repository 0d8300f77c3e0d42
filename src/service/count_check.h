// What a reply means for the counters: one outcome for each rule that had a say, one for the
// request.
#pragma once

#include "service/checker.h"
#include "service/rule_counters.h"

namespace weir {

// What the rule of a finding said by it. `allowed`: the request as a whole.
RuleOutcome OutcomeOf(const Finding& finding, bool allowed);

// REQUIRES: `reply` is complete, and of `space`, whose rules `counters` are of.
void CountCheck(const CheckReply& reply, const rule::Space& space,
                const RuleCounters::Lease& counters) noexcept;

}  // namespace weir
