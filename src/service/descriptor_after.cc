// What follows from a check by descriptors: who is banned, what is counted, what is watched.
#include <algorithm>
#include <utility>
#include <vector>

#include "rule/utf8.h"
#include "service/descriptor_round.h"
#include "service/rule_in_use.h"
#include "service/shown_values.h"

namespace weir {

using rule::CompiledAllowance;
using rule::CompiledRule;

namespace {

RuleOutcome OutcomeOf(const DescriptorStatus& status) {
  if (status.over) return status.banned ? RuleOutcome::kBanned : RuleOutcome::kDenied;
  return status.over_in_shadow ? RuleOutcome::kShadowDenied : RuleOutcome::kAllowed;
}

}  // namespace

Ledger::Ask DescriptorChecker::Round::BanOf(const CompiledRule& rule, KeyHash key) const {
  return {active_.bans.at(rule.rule->exceed.time).get(), Derive(key, kBan)};
}

bool DescriptorChecker::Round::IsBanned(const CompiledRule& rule, KeyHash key, std::uint32_t number,
                                        bool enforced) {
  if (rule.rule->exceed.what != rule::Exceed::kBan) return false;
  const Decision banned = ledger_.Peek(BanOf(rule, key), now_);
  if (banned) return false;
  const std::uint32_t limit = rule.counters[0].allowance.limits[0];
  reply_.statuses_[number].banned = enforced;
  Say(number, enforced, {true, ToldOf(limit, number), 0, banned.retry_after});
  return true;
}

// Who asked for more than its limit allows. Asking again counts no further while it lasts.
void DescriptorChecker::Round::Ban(std::uint32_t number) {
  DescriptorStatus& status = reply_.statuses_[number];
  const Hits hits = HitsOf(number);
  if (!status.over || status.rule == nullptr || hits.are == HitsAre::kGivenBack ||
      hits.count == 0 || status.rule->rule->exceed.what != rule::Exceed::kBan) {
    return;
  }
  if (!StaysOver(number, hits.count)) return;
  if (ledger_.Reserve(BanOf(*status.rule, reply_.keys_[number]), now_)) {
    status.until_reset = status.rule->rule->exceed.time;
  }
}

// Looked at once more: another request of the client may have been given back meanwhile, and
// nobody is banned for that. Nor for asking for what can never be had. A cluster has said what it
// had to say.
bool DescriptorChecker::Round::StaysOver(std::uint32_t number, std::uint64_t hits) {
  const CompiledRule& rule = *reply_.statuses_[number].rule;
  if (IsShared(rule)) return IsDeniedByCluster(number);
  const CompiledAllowance& allowance = rule.counters[0].allowance;
  for (std::size_t i = 0; i < allowance.limits.size(); ++i) {
    const std::uint32_t limit = allowance.limits[i];
    const Ledger::Ask ask{active_.limits[limit].get(), Derive(reply_.keys_[number], i),
                          Permits{hits}};
    if (active_.counting.ForLimit(limit)) return true;
    if (ledger_.Peek(ask, now_).verdict == Verdict::kDeny) return true;
  }
  return false;
}

void DescriptorChecker::Round::CountOutcomes() const {
  bool matched = false;
  for (const DescriptorStatus& status : reply_.statuses_) {
    matched |= status.limit.has_value() || status.rule != nullptr;
    if (status.rule != nullptr) active_.counters.Count(*status.rule, OutcomeOf(status));
  }
  active_.counters.Count(space_, reply_.refused_ ? RequestOutcome::kDenied
                                 : matched       ? RequestOutcome::kAllowed
                                                 : RequestOutcome::kUnmatched);
}

void DescriptorChecker::Round::Show() const {
  SeenDecision seen{.at = now_,
                    .space = space_.name(),
                    .attributes = {},
                    .allowed = !reply_.refused_,
                    .cost = Permits{std::max<std::uint32_t>(request_.hits, 1)},
                    .allowed_by = {},
                    .parts = {}};
  std::vector<Watch::Use> uses;
  seen.parts.reserve(reply_.statuses_.size());  // uses look at them
  for (std::uint32_t i = 0; i < reply_.statuses_.size(); ++i) {
    const DescriptorStatus& status = reply_.statuses_[i];
    if (status.rule == nullptr) continue;
    std::string key;
    for (const rule::RequestEntry& entry : request_.descriptors[i].entries) {
      std::string value = ShownValue(entry.key, entry.value, ledger_.seed());
      key.append(key.empty() ? "" : " ").append(rule::Shown(entry.key)).append("=").append(value);
      seen.attributes.emplace_back(rule::Shown(entry.key), std::move(value));
    }
    seen.parts.push_back({.rule = status.rule->rule->name,
                          .key = std::move(key),
                          .limit = ShownLimit(*status.rule),
                          .outcome = OutcomeOf(status),
                          .remaining = Permits{status.remaining},
                          .retry_after = status.until_reset.value_or(Nanos(0))});
    const Hits hits = HitsOf(i);
    const bool denied = status.over || status.over_in_shadow;
    const bool consumes = !denied && !reply_.refused_ && hits.are == HitsAre::kTaken;
    uses.push_back({.rule = status.rule->rule->name,
                    .key = seen.parts.back().key,
                    .consumed = consumes ? hits.count : 0,
                    .denied = denied});
  }
  checker_.watch().Add(std::move(seen), uses);
}

std::string DescriptorChecker::Round::ShownLimit(const CompiledRule& rule) const {
  const CompiledAllowance& allowance = rule.counters[0].allowance;
  if (allowance.kind == CompiledAllowance::Kind::kUnlimited) return "unlimited";
  if (allowance.kind == CompiledAllowance::Kind::kBlocked) return "blocked";
  std::string text;
  for (const std::uint32_t limit : allowance.limits) {
    text.append(text.empty() ? "" : " + ").append(active_.limit_texts[limit]);
  }
  return text;
}

}  // namespace weir
