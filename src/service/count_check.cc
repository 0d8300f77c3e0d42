#include "service/count_check.h"

#include <algorithm>

namespace weir {
namespace {

RequestOutcome OutcomeOf(const CheckReply& reply) {
  if (!reply.allowed()) return RequestOutcome::kDenied;
  if (reply.wait() > Nanos(0)) return RequestOutcome::kDelayed;
  const bool matched = !reply.findings().empty() || reply.allowed_by() != nullptr;
  return matched ? RequestOutcome::kAllowed : RequestOutcome::kUnmatched;
}

}  // namespace

RuleOutcome OutcomeOf(const Finding& finding, bool allowed) {
  const Decision& decision = finding.decision;
  if (!decision) {
    if (!finding.enforced) return RuleOutcome::kShadowDenied;
    return finding.why == Finding::Why::kBanned ? RuleOutcome::kBanned : RuleOutcome::kDenied;
  }
  if (decision.grace == Grace::kElastic) return RuleOutcome::kElastic;
  // In shadow nobody waits, and who is refused by another rule does not either.
  if (decision.wait > Nanos(0) && finding.enforced && allowed) return RuleOutcome::kDelayed;
  return RuleOutcome::kAllowed;
}

void CountCheck(const CheckReply& reply, const rule::Space& space,
                const RuleCounters::Lease& counters) noexcept {
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
  if (reply.allowed_by() != nullptr) counters.Count(*reply.allowed_by(), RuleOutcome::kAllowed);
  counters.Count(space, OutcomeOf(reply));
}

}  // namespace weir
