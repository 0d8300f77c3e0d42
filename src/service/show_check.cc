// A decision, shown: what Checker adds to what is watched.
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "service/checker.h"
#include "service/count_check.h"
#include "service/hits.h"
#include "service/shown_values.h"

namespace weir {
namespace {

std::string ShownLimit(const Finding& finding, const ActiveRules& rules) {
  if (finding.limit != nullptr) {
    return rules.limit_texts[static_cast<std::size_t>(finding.limit - rules.book->limits().data())];
  }
  return finding.why == Finding::Why::kBanned ? "banned" : "blocked";
}

}  // namespace

void Checker::Show(const CheckRequest& request, const rule::Values& values, Instant now,
                   const CheckReply& reply) {
  const rule::Space& space = *reply.space_;
  const rule::Schema& schema = space.schema();
  SeenDecision seen{.at = now,
                    .space = space.name(),
                    .attributes = ShownAttributes(schema, values, ledger_->seed()),
                    .allowed = reply.allowed(),
                    .wait = reply.wait(),
                    .cost = request.cost.value_or(Permits{1}),
                    .allowed_by = {},
                    .parts = {}};
  std::vector<Watch::Use> uses;
  if (reply.allowed_by_ != nullptr) {
    seen.allowed_by = reply.allowed_by_->rule->name;
  } else {
    // The same hits as before, and for each of them what was found.
    std::span<const Finding> findings = reply.findings();
    seen.parts.reserve(findings.size());  // uses look at them
    ForEachHit(request, space, values, reply.found_, now, [&](const Hit& hit) {
      Watch::Use use{.rule = hit.rule->rule->name, .key = {}};
      const std::string key = ShownKey(hit.counter->key, schema, values, ledger_->seed());
      const std::size_t count = findings[0].limit != nullptr ? hit.allowance->limits.size() : 1;
      for (const Finding& finding : findings.first(count)) {
        const RuleOutcome outcome = OutcomeOf(finding, reply.allowed());
        seen.parts.push_back({.rule = hit.rule->rule->name,
                              .key = key,
                              .limit = ShownLimit(finding, **reply.rules_),
                              .outcome = outcome,
                              .remaining = finding.decision.remaining,
                              .retry_after = finding.decision.retry_after});
        use.denied |= !finding.decision.allowed();
      }
      if (count > 0) use.key = seen.parts.back().key;
      if (reply.allowed() && !use.denied && !hit.looks_only) use.consumed = hit.cost.count;
      uses.push_back(use);
      findings = findings.subspan(count);
    });
  }
  watch_.Add(std::move(seen), uses);
}

}  // namespace weir
