// What a reply means for the counters: one outcome for each rule that had a say, one for the
// request.
//
// In a header because it is a few instructions of every check.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

#include "service/check_plan.h"
#include "service/checker.h"
#include "service/rule_counters.h"

namespace weir {

// What the rule of a finding said by it. `allowed`: the request as a whole.
inline RuleOutcome OutcomeOf(const Finding& finding, bool allowed) noexcept {
  const Decision& decision = finding.decision;
  if (!decision) {
    if (!finding.enforced) return RuleOutcome::kShadowDenied;
    return finding.why == Finding::Why::kBanned ? RuleOutcome::kBanned : RuleOutcome::kDenied;
  }
  if (decision.grace == Grace::kElastic) return RuleOutcome::kElastic;
  // In shadow nobody waits, and who is refused by another rule does not either.
  const bool waits = decision.wait > Nanos(0) && finding.enforced && allowed;
  return waits ? RuleOutcome::kDelayed : RuleOutcome::kAllowed;
}

inline RequestOutcome OutcomeOf(const CheckReply& reply) noexcept {
  if (!reply.allowed()) return RequestOutcome::kDenied;
  if (reply.wait() > Nanos(0)) return RequestOutcome::kDelayed;
  const bool matched = !reply.findings().empty() || reply.allowed_by() != nullptr;
  return matched ? RequestOutcome::kAllowed : RequestOutcome::kUnmatched;
}

// REQUIRES: `reply` is complete, of `space`, whose rules `counters` are of.
inline void CountCheck(const CheckReply& reply, const rule::Space& space,
                       const RuleCounters::Lease& counters) noexcept {
  if (const rule::CompiledRule* rule = reply.allowed_by()) {
    counters.Count(*rule, RuleOutcome::kAllowed);
  }
  const std::span<const Finding> findings = reply.findings();
  // The findings of a rule stand side by side.
  for (std::size_t i = 0; i < findings.size();) {
    const rule::CompiledRule* rule = findings[i].rule;
    RuleOutcome worst = OutcomeOf(findings[i], reply.allowed());
    while (++i < findings.size() && findings[i].rule == rule) {
      worst = std::max(worst, OutcomeOf(findings[i], reply.allowed()));
    }
    counters.Count(*rule, worst);
  }
  counters.Count(space, OutcomeOf(reply));
}

// The same for what was decided by a plan that is short.
inline void CountCheck(const CheckPlan& plan, const CheckReply& reply, const rule::Space& space,
                       const RuleCounters::Lease& counters) noexcept {
  if (!reply.allowed() || !plan.is_counted_short) return CountCheck(reply, space, counters);
  for (CoreCounters::Cell* cell : plan.allowed) CoreCounters::AddOne(*cell);
}

}  // namespace weir
