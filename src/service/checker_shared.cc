// Limits that a cluster shares, on their way through a check.
#include <utility>

#include "base/check.h"
#include "service/checker.h"
#include "service/rule_in_use.h"

namespace weir {

SharedAsk Checker::SharedAskOf(const Hit& hit, std::size_t limit, const ActiveRules& active,
                               const rule::Space& space, const rule::Values& values) {
  SharedAsk ask;
  ask.limit = &active.shared.Of(*hit.rule, hit.allowance->limits[limit]);
  ask.key = Derive(hit.key, limit);
  ask.cost = hit.cost;
  ask.name = {.space = &space,
              .rule = hit.rule,
              .counter = hit.counter,
              .salt = hit.allowance->salt,
              .values = &values,
              .limit = limit};
  return ask;
}

void Checker::CollectShared(const Hit& hit, CheckReply::Purpose purpose, const rule::Values& values,
                            CheckReply& reply) {
  const ActiveRules& active = **reply.rules_;
  SharedAsks& into = hit.enforced ? reply.shared_ : reply.shared_shadow_;
  for (std::size_t i = 0; i < hit.allowance->limits.size(); ++i) {
    const std::uint32_t number = hit.allowance->limits[i];
    SharedAsk ask = SharedAskOf(hit, i, active, *reply.space_, values);
    ask.finding = static_cast<std::uint32_t>(reply.findings_.size());
    // Each rule in shadow by itself, all others together.
    ask.whole = hit.enforced ? 0 : hit.rule->number;
    purpose.finding = ask.finding;
    into.Add(std::move(ask));
    if (hit.enforced) reply.shared_purposes_.push_back(purpose);
    reply.findings_.push_back(
        {hit.rule, &active.book->limits()[number], {}, Finding::Why::kLimit, hit.enforced});
  }
}

void Checker::AskShared(CheckRequest::Intent intent, SharedAsks& asks, CheckReply& reply) {
  if (asks.empty()) return;
  WEIR_CHECK(reply.cluster_ != nullptr);
  reply.cluster_->Ask(
      asks, intent == CheckRequest::Intent::kTake ? Cluster::Intent::kTake : Cluster::Intent::kLook,
      *reply.waiter_);
}

// What this host has taken meanwhile goes back if the cluster refuses.
void Checker::TakeOverShared(CheckRequest::Intent intent, Instant now, CheckReply& reply) {
  bool refused = false;
  const std::span<const SharedAsk> asks = reply.shared_.asks();
  for (std::size_t i = 0; i < asks.size(); ++i) {
    Finding& finding = reply.findings_[asks[i].finding];
    finding.decision = asks[i].decision;
    refused |= !finding.decision.allowed();
    const CheckReply::Purpose& purpose = reply.shared_purposes_[i];
    const bool bans = purpose.ban != nullptr && intent == CheckRequest::Intent::kTake;
    // Who is refused because nobody answers has done nothing wrong.
    if (!bans || asks[i].is_fallen || finding.decision.verdict != Verdict::kDeny) continue;
    ledger_->Reserve({purpose.ban, purpose.ban_key}, now);  // on this host: others do as they see
    finding.decision.retry_after = finding.rule->rule->exceed.time;
  }
  if (!refused || reply.refused_) return;
  reply.refused_ = true;
  reply.wait_ = Nanos(0);
  GiveBack(reply, now);
}

void Checker::TakeOverSharedShadow(CheckReply& reply) {
  for (const SharedAsk& ask : reply.shared_shadow_.asks()) {
    reply.findings_[ask.finding].decision = ask.decision;
  }
}

}  // namespace weir
