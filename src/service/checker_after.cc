// What comes after a check: it is given back, reported on, or turned out to cost something else.
#include <vector>

#include "service/checker.h"
#include "service/hits.h"
#include "service/rule_in_use.h"

namespace weir {

using rule::CompiledRule;
using rule::Counts;

void Checker::GiveBack(CheckReply& reply, Instant now) {
  if (!reply.shared_.empty()) reply.cluster_->GiveBack(reply.shared_);
  CheckReply::Asks& from = reply.enforced_;
  if (!from.took) return;
  from.took = false;
  for (std::size_t i = 0; i < from.asks.size(); ++i) {
    if (from.taken[i].allowed()) ledger_->Cancel(from.asks[i], from.taken[i], now);
  }
}

template <typename Use>
void Checker::ForEachAsk(const CheckRequest& request, Instant now, const Use& use) const {
  const auto active = active_.Read();
  const rule::Space* space = active->book->Find(request.space);
  if (space == nullptr) return;
  const rule::Values values(space->schema(), request.attributes);
  std::vector<std::uint32_t> found;
  space->Find(values, found);
  if (AllowListed(*space, found, now) != nullptr) return;
  ForEachHit(request, *space, values, found, now, [&](const Hit& hit) {
    const bool is_shared = options_.has_cluster && hit.rule->rule->sharing != rule::Sharing::kNone;
    for (std::size_t i = 0; i < hit.allowance->limits.size(); ++i) {
      const Ledger::Ask ask{active->limits[hit.allowance->limits[i]].get(), Derive(hit.key, i),
                            hit.cost};
      if (is_shared) {
        SharedAsk shared = SharedAskOf(hit, i, *active, *space, values);
        use(*hit.rule, ask, &shared);
      } else {
        use(*hit.rule, ask, nullptr);
      }
    }
  });
}

void Checker::Report(const CheckRequest& request, Outcome outcome, Instant now) {
  if (outcome == Outcome::kSucceeded) return;
  ForEachAsk(request, now, [&](const CompiledRule& rule, const Ledger::Ask& ask, SharedAsk*) {
    if (rule.rule->counts == Counts::kFailures) ledger_->Charge(ask, now);
  });
}

void Checker::Correct(const CheckRequest& request, Correction correction, Permits cost, Instant now,
                      Cluster* cluster) {
  ForEachAsk(request, now, [&](const CompiledRule& rule, Ledger::Ask ask, SharedAsk* shared) {
    if (rule.rule->counts == Counts::kFailures) return;
    if (shared != nullptr && cluster != nullptr) {
      shared->cost = cost;
      cluster->Correct(*shared, correction);
      return;
    }
    ask.cost = cost;
    if (correction == Correction::kCharge) {
      ledger_->Charge(ask, now);
    } else {
      ledger_->Refund(ask, now);
    }
  });
}

}  // namespace weir
