#include "service/checker.h"

#include <algorithm>
#include <utility>

#include "base/same_few.h"
#include "service/hits.h"
#include "service/policy.h"
#include "service/rule_in_use.h"

namespace weir {

using rule::CompiledAllowance;
using rule::CompiledRule;
using rule::Exceed;

namespace {

Nanos PatienceOf(const CompiledRule& rule) {
  return rule.rule->exceed.what == Exceed::kDelay ? rule.rule->exceed.time : Nanos(0);
}

// Refusals outweigh, the longest most of all; of what passes, that which has the least left.
bool Outweighs(const Decision& one, const Decision& other) {
  if (one.verdict != other.verdict) return one.verdict > other.verdict;
  return one.allowed() ? one.remaining < other.remaining : one.retry_after > other.retry_after;
}

void Stretch(Decision& decision) {
  decision.verdict = Verdict::kAllow;
  decision.grace = Grace::kElastic;
  decision.retry_after = Nanos(0);
}

Limit BanFor(Nanos time) { return Quota::Per(1, time).Burst(1); }

std::unique_ptr<const ActiveRules> NoRules() {
  rule::Problems none;
  auto active = std::make_unique<ActiveRules>();
  active->book = rule::Rulebook::Compile({}, none);
  active->version = "none";
  return active;
}

}  // namespace

void CheckReply::ForgetRules() {
  asked_rules_ = false;
  allowed_by_ = nullptr;
  wait_ = Nanos(0);
  findings_.clear();
  found_.clear();
  enforced_.clear();
  shadow_.clear();
  looks_.clear();
  if (cluster_ == nullptr) return;
  step_ = Step::kNew;
  shared_.Clear();
  shared_purposes_.clear();
  shared_shadow_.Clear();
}

Checker::Checker(std::unique_ptr<Ledger> ledger, CheckerOptions options)
    : ledger_(std::move(ledger)),
      options_(std::move(options)),
      watch_(ledger_->seed()),
      active_(NoRules()) {}

rule::Problems Checker::Publish(std::vector<rule::RuleSet> sets, std::string version) {
  rule::Problems problems;
  auto active = std::make_unique<ActiveRules>();
  active->book = rule::Rulebook::Compile(std::move(sets), problems);
  if (active->book == nullptr) return problems;
  active->version = std::move(version);
  active->is_published = true;
  const auto enter = [&](const Limit& limit, Ledger::Entering entering = Ledger::Entering::kToUse) {
    const Result<Ledger::LimitHandle> entered = ledger_->Enter(limit, entering);
    if (entered) return *entered;
    problems.push_back({"limit " + limit.ToString(), {}, "", entered.error().message, ""});
    return Ledger::LimitHandle();
  };
  for (const Limit& limit : active->book->limits()) {
    active->limits.push_back(enter(limit));
    active->policies.push_back(PolicyText(limit));
    active->limit_texts.push_back(limit.ToString());
  }
  active->counting = CountingWindows(*active->book, enter);
  active->shared = SharedLimits(*active->book, options_.has_cluster, problems);
  for (const rule::RuleSet& set : active->book->sets()) {
    for (const rule::Rule& rule : set.rules) {
      if (rule.exceed.what != Exceed::kBan) continue;
      auto& ban = active->bans[rule.exceed.time];
      if (ban == nullptr) ban = enter(BanFor(rule.exceed.time));
    }
  }
  if (!problems.empty()) return problems;
  active->counters = counters_.Enter(*active->book);
  active_.Publish(std::move(active));
  return problems;
}

void Checker::Check(const CheckRequest& request, Instant now, CheckReply& reply) {
  const rule::Space* space = Open(request.space, reply);
  if (space == nullptr) return;
  Decide(request, rule::Values(space->schema(), request.attributes), now, reply);
}

const rule::Space* Checker::Open(std::string_view space, CheckReply& reply) {
  if (reply.step_ != CheckReply::Step::kNew) return reply.space_;  // goes on where it was
  reply.Clear();
  // In a row of requests the rules are most likely those of the one before.
  if (!reply.rules_ || !active_.IsCurrent(*reply.rules_)) {
    reply.rules_.emplace(active_.Read());
    reply.space_ = nullptr;
  }
  if (reply.space_ == nullptr || !SameFew(reply.space_->name(), space)) {
    reply.space_ = (*reply.rules_)->book->Find(space);
    if (reply.space_ == nullptr) {
      counters_.CountUnknownSpace();
      if (reply.cluster_ != nullptr) reply.step_ = CheckReply::Step::kDone;
    }
  }
  return reply.space_;
}

// What refuses at once is found out here; what has to be taken is put aside for later. Inlined into
// Ask(), its only caller: of what is known of a hit, most then stays in registers.
[[gnu::always_inline]] inline void Checker::Collect(const Hit& hit, const rule::Values& values,
                                                    Instant now, CheckReply& reply) {
  const ActiveRules& active = **reply.rules_;
  const auto refuse = [&](Finding::Why why, const Decision& decision) {
    reply.findings_.push_back({hit.rule, nullptr, decision, why, hit.enforced});
    if (hit.enforced) reply.refused_ = true;
  };
  if (hit.allowance->kind == CompiledAllowance::Kind::kBlocked) {
    refuse(Finding::Why::kBlocked,
           {.verdict = Verdict::kNever, .retry_after = Nanos::max(), .reset_after = Nanos::max()});
    return;
  }
  const Ledger::Entered* ban = nullptr;
  KeyHash ban_key{};
  if (hit.rule->rule->exceed.what == Exceed::kBan) {
    ban = active.bans.at(hit.rule->rule->exceed.time).get();
    ban_key = Derive(hit.key, kBan);
    const Decision banned = ledger_->Peek({ban, ban_key}, now);
    if (!banned) {
      refuse(Finding::Why::kBanned, banned);
      return;
    }
  }
  if (reply.cluster_ != nullptr && hit.rule->rule->sharing != rule::Sharing::kNone) {
    return CollectShared(hit, {0, ban, ban_key}, values, reply);
  }
  CheckReply::Asks& into = hit.looks_only ? reply.looks_
                           : hit.enforced ? reply.enforced_
                                          : reply.shadow_;
  const Nanos patience = PatienceOf(*hit.rule);
  for (std::size_t i = 0; i < hit.allowance->limits.size(); ++i) {
    const std::uint32_t number = hit.allowance->limits[i];
    const auto finding = static_cast<std::uint32_t>(reply.findings_.size());
    reply.findings_.push_back(
        {hit.rule, &active.book->limits()[number], {}, Finding::Why::kLimit, hit.enforced});
    into.asks.push_back({active.limits[number].get(), Derive(hit.key, i), hit.cost, patience});
    into.purposes.push_back({finding, ban, ban_key});
  }
}

void Checker::Ask(const CheckRequest& request, const rule::Values& values, Instant now,
                  CheckReply& reply) {
  using Step = CheckReply::Step;
  if (reply.step_ == Step::kNew) {
    ForEachHit(request, *reply.space_, values, reply.found_, now,
               [&](const Hit& hit) { Collect(hit, values, now, reply); });
    if (!reply.looks_.empty()) LookOnly(request.intent, now, reply);
    // Who is refused anyway is not charged, and all others are only looked at.
    if (reply.refused_) {
      Look(reply.enforced_, now, reply);
    } else {
      TakeEnforced(now, reply);
      if (!reply.refused_) AskShared(request.intent, reply.shared_, reply);
    }
    reply.step_ = Step::kAsked;
  }
  if (reply.cluster_ != nullptr && reply.is_waiting()) return;
  if (reply.step_ == Step::kAsked) {
    if (!reply.shared_.empty()) TakeOverShared(request.intent, now, reply);
    if (reply.refused_) {
      Look(reply.shadow_, now, reply);
      if (request.intent == CheckRequest::Intent::kTake) {
        Ban(reply.enforced_, now, reply);
        Ban(reply.looks_, now, reply);
      }
    } else {
      if (!reply.shadow_.empty()) TakeShadow(now, reply);
      reply.shared_shadow_.SetValues(values);  // perhaps of another call than collected them
      AskShared(request.intent, reply.shared_shadow_, reply);
    }
    reply.step_ = Step::kShadowAsked;
  }
  if (reply.cluster_ != nullptr && reply.is_waiting()) return;
  if (!reply.shared_shadow_.empty()) TakeOverSharedShadow(reply);
  reply.told_ = reply.findings_;
  // Mostly all that was found was taken at once, and it is known what has the least left.
  const bool is_known = reply.findings_.size() == reply.enforced_.asks.size() && !reply.refused_;
  if (!is_known) FindDecisive(reply);
}

void Checker::FindDecisive(CheckReply& reply) {
  const Finding* decisive = nullptr;
  Permits least{UINT64_MAX};
  for (const Finding& finding : reply.told_) {
    if (!finding.enforced) continue;
    least = std::min(least, finding.decision.remaining);
    if (decisive == nullptr || Outweighs(finding.decision, decisive->decision)) {
      decisive = &finding;
    }
  }
  reply.decisive_ = decisive;
  reply.remaining_ = least;
}

void Checker::Look(const CheckReply::Asks& asks, Instant now, CheckReply& reply) {
  for (std::size_t i = 0; i < asks.asks.size(); ++i) {
    reply.findings_[asks.purposes[i].finding].decision = ledger_->Peek(asks.asks[i], now);
  }
}

void Checker::LookOnly(CheckRequest::Intent intent, Instant now, CheckReply& reply) {
  Look(reply.looks_, now, reply);
  bool has_room = false;
  for (std::size_t i = 0; i < reply.looks_.asks.size(); ++i) {
    Finding& finding = reply.findings_[reply.looks_.purposes[i].finding];
    Decision& decision = finding.decision;
    if (intent == CheckRequest::Intent::kLook && decision.verdict == Verdict::kDeny &&
        decision.retry_after <= reply.looks_.asks[i].patience) {
      decision.verdict = Verdict::kAllow;  // it could be had, a little later
      decision.wait = std::exchange(decision.retry_after, Nanos(0));
    }
    if (!finding.enforced) continue;
    if (decision) {
      reply.wait_ = std::max(reply.wait_, decision.wait);
    } else if (MayStretch(finding) && (has_room || HasRoom())) {
      has_room = true;
      Stretch(decision);
    } else {
      reply.refused_ = true;
    }
  }
  // Nobody waits where nothing was taken, and a look is told how long it would.
  if (intent == CheckRequest::Intent::kTake || reply.refused_) reply.wait_ = Nanos(0);
}

void Checker::TakeEnforced(Instant now, CheckReply& reply) {
  if (reply.enforced_.empty()) return;
  auto& asks = reply.enforced_.asks;
  auto& purposes = reply.enforced_.purposes;
  const auto take = [&] {
    CheckReply::Asks& from = reply.enforced_;
    const Decision all = ledger_->TakeAll(from.asks, from.Taking(), now);
    for (std::size_t i = 0; i < from.asks.size(); ++i) {
      reply.findings_[from.purposes[i].finding].decision = from.taken[i].decision;
    }
    reply.wait_ = all.wait;
    reply.refused_ = !all;
    return all;
  };
  if (const Decision all = take()) {
    reply.decisive_ = &reply.findings_[purposes[all.limit_index].finding];
    reply.remaining_ = all.remaining;
    return;
  }

  // Elastic: above the limit while the host has room. What is above is not charged, so that the
  // client is back at its limit the moment the room is gone; the other limits still count.
  const auto may_pass = [&](const CheckReply::Purpose& purpose) {
    const Finding& finding = reply.findings_[purpose.finding];
    return finding.decision.allowed() || MayStretch(finding);
  };
  if (!std::all_of(purposes.begin(), purposes.end(), may_pass) || !HasRoom()) return;
  std::size_t left = 0;
  for (std::size_t i = 0; i < asks.size(); ++i) {
    Decision& decision = reply.findings_[purposes[i].finding].decision;
    if (decision) {
      asks[left] = asks[i];
      purposes[left++] = purposes[i];
    } else {
      Stretch(decision);
    }
  }
  asks.resize(left);
  purposes.resize(left);
  take();
}

bool Checker::MayStretch(const Finding& finding) {
  return finding.rule->rule->elastic && finding.decision.verdict == Verdict::kDeny;
}

// Each rule in shadow by itself, as if it were enforced.
void Checker::TakeShadow(Instant now, CheckReply& reply) {
  CheckReply::Asks& shadow = reply.shadow_;
  const auto rule_of = [&](std::size_t i) {
    return reply.findings_[shadow.purposes[i].finding].rule;
  };
  const std::span<Reservation> taken = shadow.Taking();
  for (std::size_t first = 0, last = 0; first < shadow.asks.size(); first = last) {
    while (last < shadow.asks.size() && rule_of(last) == rule_of(first)) ++last;
    ledger_->TakeAll(std::span(shadow.asks).subspan(first, last - first),
                     taken.subspan(first, last - first), now);
    for (std::size_t i = first; i < last; ++i) {
      reply.findings_[shadow.purposes[i].finding].decision = taken[i].decision;
    }
  }
}

// Who is over a limit that bans. Looked at once more: another request of the client may have been
// given back meanwhile, and nobody is banned for that.
void Checker::Ban(const CheckReply::Asks& asks, Instant now, CheckReply& reply) {
  for (std::size_t i = 0; i < asks.asks.size(); ++i) {
    const CheckReply::Purpose& purpose = asks.purposes[i];
    Finding& finding = reply.findings_[purpose.finding];
    const bool bans = purpose.ban != nullptr && finding.enforced;
    if (!bans || finding.decision.verdict != Verdict::kDeny) continue;
    if (ledger_->Peek(asks.asks[i], now)) continue;
    ledger_->Reserve({purpose.ban, purpose.ban_key}, now);
    finding.decision.retry_after = finding.rule->rule->exceed.time;
  }
}

}  // namespace weir
