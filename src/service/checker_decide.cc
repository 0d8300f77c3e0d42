// From a request to what is decided about it: by its plan, or by asking every rule.
#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

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

// What Ledger::TakeAtOnce() takes from.
struct PlannedTake {
  const Checker::Foreseen& foreseen;
  const Finding* planned;
  Finding* findings;

  [[nodiscard]] std::span<const Ledger::Part> parts() const { return foreseen.plan->parts; }
  [[nodiscard]] const Ledger::Aim* aims() const { return foreseen.aims.data(); }
  [[nodiscard]] std::span<const KeyHash> hashes() const { return foreseen.hashes; }
  [[nodiscard]] Decision& DecisionOf(std::size_t i) const {
    findings[i].rule = planned[i].rule;
    findings[i].limit = planned[i].limit;
    return findings[i].decision;
  }
};

}  // namespace

void Checker::Foresee(const CheckRequest& request, const rule::Values& values,
                      const CheckReply& reply, Foreseen& foreseen) {
  const CheckPlan* const plan = Plans().Find(**reply.rules_, *reply.space_, values);
  foreseen.plan = plan;
  if (plan == nullptr || !plan->is_short || !MayBeShort(request, reply)) return;
  foreseen.by_plan = true;
  KeyHash* hash = foreseen.hashes.data();
  for (const auto& key : plan->values) {
    *hash++ = *rule::HashValues(key, values, ledger_->seed());
  }
  Ledger::Aim* aim = foreseen.aims.data();
  for (const Ledger::Part& part : plan->parts) *aim++ = ledger_->AimAt(part, foreseen.hashes);
}

bool Checker::IsBanned(const Foreseen& foreseen, Instant now) {
  const std::vector<Ledger::Part>& bans = foreseen.plan->bans;
  return std::any_of(bans.begin(), bans.end(), [&](const Ledger::Part& ban) {
    return !ledger_->Peek({ban.limit, ban.KeyOf(foreseen.hashes)}, now);
  });
}

// Inlined into its only caller: it is nearly all that is done.
[[gnu::always_inline]] inline bool Checker::TakeByPlan(const Foreseen& foreseen, Instant now,
                                                       CheckReply& reply) {
  using Taken = Ledger::AtOnce::Outcome;
  const CheckPlan& plan = *foreseen.plan;
  if (!plan.bans.empty() && IsBanned(foreseen, now)) return false;
  Finding* const findings = reply.by_plan_.data();
  const Ledger::AtOnce taken =
      ledger_->TakeAtOnce(PlannedTake{foreseen, plan.findings.data(), findings}, now);
  // Whom to ban is found out the long way, and so is all that this way does not know.
  const bool is_done =
      taken.outcome == Taken::kAllowed || (taken.outcome == Taken::kDenied && plan.bans.empty());
  if (!is_done) [[unlikely]] {
    return false;
  }
  reply.told_ = {findings, plan.findings.size()};
  if (taken.outcome == Taken::kDenied) [[unlikely]] {
    reply.refused_ = true;
    FindDecisive(reply);
    return true;
  }
  if (!plan.parts.empty()) reply.decisive_ = findings + taken.least;
  reply.remaining_ = taken.remaining;
  return true;
}

void Checker::Decide(const CheckRequest& request, const rule::Values& values, Instant now,
                     CheckReply& reply) {
  WEIR_CHECK(reply.knows_space());
  Foreseen foreseen;
  if (reply.step_ == CheckReply::Step::kNew) Foresee(request, values, reply, foreseen);
  Decide(request, values, foreseen, now, reply);
}

Checker::ByPlan Checker::DecideByPlan(const Foreseen& foreseen, Instant now, CheckReply& reply) {
  if (!TakeByPlan(foreseen, now, reply)) return ByPlan::kNothing;
  if (!options_.observe) return ByPlan::kAll;
  CountCheck(*foreseen.plan, reply, *reply.space_, (*reply.rules_)->counters);
  return watch_.IsTurn(now) ? ByPlan::kAllButShow : ByPlan::kAll;
}

void Checker::ShowByPlan(const CheckRequest& request, const rule::Values& values,
                         const Foreseen& foreseen, Instant now, CheckReply& reply) {
  reply.asked_rules_ = true;
  reply.found_ = foreseen.plan->found;
  Show(request, values, now, reply);
}

void Checker::DecideByRules(const CheckRequest& request, const rule::Values& values,
                            const Foreseen& foreseen, Instant now, CheckReply& reply) {
  const rule::Space& space = *reply.space_;
  if (reply.step_ == CheckReply::Step::kDone) return;
  reply.asked_rules_ = true;
  if (reply.step_ == CheckReply::Step::kNew) {
    if (foreseen.plan == nullptr) {
      Memo().Find(space, values, ledger_->seed(), reply.found_);
    } else {
      reply.found_ = foreseen.plan->found;
    }
    reply.allowed_by_ = AllowListed(space, reply.found_, now);
  }
  if (reply.allowed_by_ == nullptr) Ask(request, values, now, reply);
  if (reply.is_waiting()) return;
  reply.step_ = reply.cluster_ != nullptr ? CheckReply::Step::kDone : CheckReply::Step::kNew;
  // Of a look there is nothing to count: no request passed or was refused.
  if (request.intent == CheckRequest::Intent::kLook || !options_.observe) return;
  CountCheck(reply, space, (*reply.rules_)->counters);
  if (watch_.IsTurn(now)) Show(request, values, now, reply);
}

}  // namespace weir
