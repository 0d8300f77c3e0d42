// From a request to the counters it is counted in: for the files of Checker.
#pragma once

#include "rule/key.h"
#include "service/checker.h"
#include "service/rule_in_use.h"

namespace weir {

template <typename Use>
void Checker::ForEachHit(const CheckRequest& request, const rule::Space& space,
                         const rule::Values& values, std::span<const std::uint32_t> found,
                         Instant now, const Use& use) const {
  for (const std::uint32_t number : found) {
    const rule::CompiledRule& rule = space.rules()[number];
    if (!IsInForce(rule, now)) continue;
    const rule::CompiledAllowance* other = rule.OverrideFor(values, now);
    for (const rule::Counter& counter : rule.counters) {
      if (other != nullptr && counter.is_tier) continue;
      const rule::CompiledAllowance& allowance = other != nullptr ? *other : counter.allowance;
      if (allowance.kind == rule::CompiledAllowance::Kind::kUnlimited) continue;
      const auto hashed = rule::HashValues(counter.key, values, ledger_->seed());
      if (!hashed) continue;
      const KeyHash key = rule::KeyIn(counter.id ^ allowance.salt, *hashed);
      // Asking under a rule that counts failures is free.
      const bool looks_only = request.intent == CheckRequest::Intent::kLook ||
                              rule.rule->counts == rule::Counts::kFailures;
      use(Hit{&rule, &counter, &allowance, key, request.cost ? *request.cost : rule.CostOf(values),
              IsEnforced(rule, key), looks_only});
    }
  }
}

}  // namespace weir
