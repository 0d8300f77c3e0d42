// From a request to what is decided about it: by its plan, or by asking every rule.
#include <cstddef>

#include "base/check.h"
#include "limiter/ledger_at_once.h"
#include "rule/key.h"
#include "rule/match_memo.h"
#include "service/check_plan.h"
#include "service/checker.h"
#include "service/count_check.h"
#include "service/rule_in_use.h"

namespace weir {
namespace {

rule::MatchMemo& Memo() {
  thread_local constinit rule::MatchMemo memo;
  return memo;
}

CheckPlans& Plans() {
  thread_local CheckPlans plans;
  return plans;
}

}  // namespace

// Inlined into its two callers: a plan is found for every check.
[[gnu::always_inline]] inline void Checker::FindPlan(const CheckRequest& request,
                                                     const rule::Values& values,
                                                     const CheckReply& reply,
                                                     Foreseen& foreseen) const {
  foreseen.plan = Plans().Find(**reply.rules_, *reply.space_, values);
  if (foreseen.plan == nullptr || !foreseen.plan->is_short || !MayBeShort(request, reply)) return;
  KeyHash* hash = foreseen.hashes.data();
  for (const auto& key : foreseen.plan->values) {
    *hash++ = *rule::HashValues(key, values, ledger_->seed());
  }
}

void Checker::Foresee(const CheckRequest& request, const rule::Values& values,
                      const CheckReply& reply, Foreseen& foreseen) {
  FindPlan(request, values, reply, foreseen);
  if (foreseen.plan == nullptr || !foreseen.plan->is_short || !MayBeShort(request, reply)) return;
  for (const Ledger::Part& part : foreseen.plan->parts) {
    ledger_->Prefetch(part.KeyOf(foreseen.hashes));
  }
}

void Checker::Decide(const CheckRequest& request, const rule::Values& values, Instant now,
                     CheckReply& reply) {
  WEIR_CHECK(reply.knows_space());
  Foreseen foreseen;
  if (reply.step_ == CheckReply::Step::kNew) FindPlan(request, values, reply, foreseen);
  Decide(request, values, foreseen, now, reply);
}

void Checker::Decide(const CheckRequest& request, const rule::Values& values,
                     const Foreseen& foreseen, Instant now, CheckReply& reply) {
  const ActiveRules& active = **reply.rules_;
  const rule::Space& space = *reply.space_;
  if (reply.step_ == CheckReply::Step::kDone) return;
  if (reply.step_ == CheckReply::Step::kNew) {
    const CheckPlan* plan = foreseen.plan;
    if (plan == nullptr) {
      Memo().Find(space, values, ledger_->seed(), reply.found_);
    } else {
      if (plan->is_short && MayBeShort(request, reply) && DecideByPlan(foreseen, now, reply)) {
        if (!options_.observe) return;
        CountCheck(*plan, reply, space, active.counters);
        if (!watch_.IsTurn(now)) return;
        reply.found_ = plan->found;
        return Show(request, values, now, reply);
      }
      reply.found_ = plan->found;
    }
    reply.allowed_by_ = AllowListed(space, reply.found_, now);
  }
  if (reply.allowed_by_ == nullptr) Ask(request, values, now, reply);
  if (reply.is_waiting()) return;
  reply.step_ = reply.cluster_ != nullptr ? CheckReply::Step::kDone : CheckReply::Step::kNew;
  // Of a look there is nothing to count: no request passed or was refused.
  if (request.intent == CheckRequest::Intent::kLook || !options_.observe) return;
  CountCheck(reply, space, active.counters);
  if (watch_.IsTurn(now)) Show(request, values, now, reply);
}

bool Checker::DecideByPlan(const Foreseen& foreseen, Instant now, CheckReply& reply) {
  using Taken = Ledger::AtOnce::Outcome;
  const CheckPlan& plan = *foreseen.plan;
  for (const Ledger::Part& ban : plan.bans) {
    if (!ledger_->Peek({ban.limit, ban.KeyOf(foreseen.hashes)}, now)) return false;
  }
  reply.findings_ = plan.findings;
  Finding* const findings = reply.findings_.data();
  const Ledger::AtOnce taken =
      ledger_->TakeAtOnce(plan.parts, foreseen.hashes, now,
                          [findings](std::size_t i) -> Decision& { return findings[i].decision; });
  if (taken.outcome == Taken::kAllowed) [[likely]] {
    if (!plan.parts.empty()) reply.decisive_ = findings + taken.least;
    reply.remaining_ = taken.remaining;
    return true;
  }
  // Whom to ban is found out the long way, and so is all that this way does not know.
  if (taken.outcome == Taken::kNothing || !plan.bans.empty()) {
    reply.findings_.clear();
    return false;
  }
  reply.refused_ = true;
  FindDecisive(reply);
  return true;
}

}  // namespace weir
