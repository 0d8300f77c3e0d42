#include "service/checker.h"

#include <algorithm>
#include <utility>

#include "rule/key.h"
#include "service/rule_in_use.h"

namespace weir {

using rule::CompiledAllowance;
using rule::CompiledRule;
using rule::Counts;
using rule::Exceed;
using rule::Mode;

namespace {

// The first rule that lets the request pass whatever the others say; null if there is none.
const CompiledRule* AllowListed(const rule::Space& space, std::span<const std::uint32_t> found,
                                Instant now) {
  for (const std::uint32_t number : found) {
    const CompiledRule& rule = space.rules()[number];
    if (rule.rule->allow && IsInForce(rule, now)) return &rule;
  }
  return nullptr;
}

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

void CheckReply::Clear() {
  space_ = nullptr;
  allowed_by_ = nullptr;
  refused_ = false;
  wait_ = Nanos(0);
  decisive_.reset();
  findings_.clear();
  found_.clear();
  enforced_.clear();
  shadow_.clear();
  looks_.clear();
  from_enforced_.asks.clear();
  rules_.reset();
}

void CheckReply::Taking::Prepare(std::span<const Pending> pending) {
  asks.clear();
  for (const Pending& one : pending) asks.push_back(one.ask);
  taken.assign(asks.size(), {});
}

Checker::Checker(std::unique_ptr<Ledger> ledger, CheckerOptions options)
    : ledger_(std::move(ledger)), options_(std::move(options)), active_(NoRules()) {}

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
  for (const Limit& limit : active->book->limits()) active->limits.push_back(enter(limit));
  active->counting = CountingWindows(*active->book, enter);
  for (const rule::RuleSet& set : active->book->sets()) {
    for (const rule::Rule& rule : set.rules) {
      if (rule.exceed.what != Exceed::kBan) continue;
      auto& ban = active->bans[rule.exceed.time];
      if (ban == nullptr) ban = enter(BanFor(rule.exceed.time));
    }
  }
  if (problems.empty()) active_.Publish(std::move(active));
  return problems;
}

template <typename Use>
void Checker::ForEachHit(const CheckRequest& request, const rule::Space& space,
                         const rule::Values& values, std::span<const std::uint32_t> found,
                         Instant now, const Use& use) const {
  for (const std::uint32_t number : found) {
    const CompiledRule& rule = space.rules()[number];
    if (!IsInForce(rule, now)) continue;
    const CompiledAllowance* other = rule.OverrideFor(values);
    for (const rule::Counter& counter : rule.counters) {
      if (other != nullptr && counter.is_tier) continue;
      const CompiledAllowance& allowance = other != nullptr ? *other : counter.allowance;
      if (allowance.kind == CompiledAllowance::Kind::kUnlimited) continue;
      rule::KeyBytes bytes(counter.id ^ allowance.salt, ledger_->seed());
      if (!rule::AddKey(counter.key, values, bytes)) continue;
      const KeyHash key = ledger_->Hash(bytes.bytes());
      use(Hit{&rule, &allowance, key, request.cost ? *request.cost : rule.CostOf(values),
              IsEnforced(rule, key)});
    }
  }
}

void Checker::Check(const CheckRequest& request, Instant now, CheckReply& reply) {
  reply.Clear();
  const ActiveRules& active = *reply.rules_.emplace(active_.Read());
  reply.space_ = active.book->Find(request.space);
  if (reply.space_ == nullptr) return;
  const rule::Space& space = *reply.space_;
  const rule::Values values(space.schema(), request.attributes);
  space.Find(values, reply.found_);
  reply.allowed_by_ = AllowListed(space, reply.found_, now);
  if (reply.allowed_by_ != nullptr) return;
  ForEachHit(request, space, values, reply.found_, now,
             [&](const Hit& hit) { Collect(hit, active, now, reply); });
  LookOnly(now, reply);
  // Who is refused anyway is not charged, and all others are only looked at.
  if (reply.refused_) {
    Look(reply.enforced_, now, reply);
  } else {
    TakeEnforced(now, reply);
  }
  if (reply.refused_) {
    Look(reply.shadow_, now, reply);
    Ban(now, reply);
  } else {
    TakeShadow(now, reply);
  }

  for (std::size_t i = 0; i < reply.findings_.size(); ++i) {
    const Finding& finding = reply.findings_[i];
    if (!finding.enforced) continue;
    const Finding* decisive = reply.decisive();
    if (decisive == nullptr || Outweighs(finding.decision, decisive->decision)) {
      reply.decisive_ = i;
    }
  }
}

// What refuses at once is found out here; what has to be taken is put aside for later.
void Checker::Collect(const Hit& hit, const ActiveRules& active, Instant now, CheckReply& reply) {
  const auto refuse = [&](Finding::Why why, const Decision& decision) {
    reply.findings_.push_back({hit.rule, nullptr, decision, why, hit.enforced});
    if (hit.enforced) reply.refused_ = true;
  };
  if (hit.allowance->kind == CompiledAllowance::Kind::kBlocked) {
    refuse(Finding::Why::kBlocked,
           {.verdict = Verdict::kNever, .retry_after = Nanos::max(), .reset_after = Nanos::max()});
    return;
  }
  std::optional<Ledger::Ask> ban;
  if (hit.rule->rule->exceed.what == Exceed::kBan) {
    ban.emplace(
        Ledger::Ask{active.bans.at(hit.rule->rule->exceed.time).get(), Derive(hit.key, kBan)});
    const Decision banned = ledger_->Peek(*ban, now);
    if (!banned) {
      refuse(Finding::Why::kBanned, banned);
      return;
    }
  }
  for (std::size_t i = 0; i < hit.allowance->limits.size(); ++i) {
    const std::uint32_t number = hit.allowance->limits[i];
    const Ledger::Ask ask{active.limits[number].get(), Derive(hit.key, i), hit.cost,
                          PatienceOf(*hit.rule)};
    const auto finding = static_cast<std::uint32_t>(reply.findings_.size());
    reply.findings_.push_back(
        {hit.rule, &active.book->limits()[number], {}, Finding::Why::kLimit, hit.enforced});
    // Asking under a rule that counts failures is free: it is only looked whether there is room.
    const bool looks_only = hit.rule->rule->counts == Counts::kFailures;
    auto& pending = looks_only ? reply.looks_ : hit.enforced ? reply.enforced_ : reply.shadow_;
    pending.push_back({ask, finding, ban});
  }
}

void Checker::Look(std::span<const CheckReply::Pending> pending, Instant now, CheckReply& reply) {
  for (const CheckReply::Pending& one : pending) {
    reply.findings_[one.finding].decision = ledger_->Peek(one.ask, now);
  }
}

void Checker::LookOnly(Instant now, CheckReply& reply) {
  Look(reply.looks_, now, reply);
  bool has_room = false;
  for (const CheckReply::Pending& pending : reply.looks_) {
    Finding& finding = reply.findings_[pending.finding];
    if (finding.decision || !finding.enforced) continue;
    if (MayStretch(finding) && (has_room || HasRoom())) {
      has_room = true;
      Stretch(finding.decision);
    } else {
      reply.refused_ = true;
    }
  }
}

void Checker::TakeEnforced(Instant now, CheckReply& reply) {
  if (reply.enforced_.empty()) return;
  const auto take = [&] {
    CheckReply::Taking& taking = reply.from_enforced_;
    taking.Prepare(reply.enforced_);
    const Decision all = ledger_->TakeAll(taking.asks, taking.taken, now);
    for (std::size_t i = 0; i < taking.asks.size(); ++i) {
      reply.findings_[reply.enforced_[i].finding].decision = taking.taken[i].decision;
    }
    reply.wait_ = all.wait;
    reply.refused_ = !all;
  };
  take();
  if (!reply.refused_) return;

  // Elastic: above the limit while the host has room. What is above is not charged, so that the
  // client is back at its limit the moment the room is gone; the other limits still count.
  const auto may_pass = [&](const CheckReply::Pending& pending) {
    const Finding& finding = reply.findings_[pending.finding];
    return finding.decision.allowed() || MayStretch(finding);
  };
  if (!std::all_of(reply.enforced_.begin(), reply.enforced_.end(), may_pass) || !HasRoom()) return;
  std::erase_if(reply.enforced_, [&](const CheckReply::Pending& pending) {
    Decision& decision = reply.findings_[pending.finding].decision;
    if (decision) return false;
    Stretch(decision);
    return true;
  });
  take();
}

bool Checker::MayStretch(const Finding& finding) {
  return finding.rule->rule->elastic && finding.decision.verdict == Verdict::kDeny;
}

// Each rule in shadow by itself, as if it were enforced.
void Checker::TakeShadow(Instant now, CheckReply& reply) {
  const auto rule_of = [&](const CheckReply::Pending& pending) {
    return reply.findings_[pending.finding].rule;
  };
  auto& [asks, taken] = reply.from_shadow_;
  for (auto first = reply.shadow_.begin(); first != reply.shadow_.end();) {
    const auto last = std::find_if(first, reply.shadow_.end(), [&](const auto& pending) {
      return rule_of(pending) != rule_of(*first);
    });
    const std::span<const CheckReply::Pending> group{first, last};
    reply.from_shadow_.Prepare(group);
    ledger_->TakeAll(asks, taken, now);
    for (std::size_t i = 0; i < group.size(); ++i) {
      reply.findings_[group[i].finding].decision = taken[i].decision;
    }
    first = last;
  }
}

// Who is over a limit that bans. Looked at once more: another request of the client may have been
// given back meanwhile, and nobody is banned for that.
void Checker::Ban(Instant now, CheckReply& reply) {
  const auto ban = [&](const CheckReply::Pending& pending) {
    Finding& finding = reply.findings_[pending.finding];
    if (!pending.ban || !finding.enforced || finding.decision.verdict != Verdict::kDeny) return;
    if (ledger_->Peek(pending.ask, now)) return;
    ledger_->Reserve(*pending.ban, now);
    finding.decision.retry_after = finding.rule->rule->exceed.time;
  };
  std::for_each(reply.enforced_.begin(), reply.enforced_.end(), ban);
  std::for_each(reply.looks_.begin(), reply.looks_.end(), ban);
}

void Checker::GiveBack(CheckReply& reply, Instant now) {
  auto& [asks, taken] = reply.from_enforced_;
  for (std::size_t i = 0; i < asks.size(); ++i) {
    if (taken[i].allowed()) ledger_->Cancel(asks[i], taken[i], now);
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
    for (std::size_t i = 0; i < hit.allowance->limits.size(); ++i) {
      use(*hit.rule, Ledger::Ask{active->limits[hit.allowance->limits[i]].get(), Derive(hit.key, i),
                                 hit.cost});
    }
  });
}

void Checker::Report(const CheckRequest& request, Outcome outcome, Instant now) {
  if (outcome == Outcome::kSucceeded) return;
  ForEachAsk(request, now, [&](const CompiledRule& rule, const Ledger::Ask& ask) {
    if (rule.rule->counts == Counts::kFailures) ledger_->Charge(ask, now);
  });
}

void Checker::Correct(const CheckRequest& request, Correction correction, Permits cost,
                      Instant now) {
  ForEachAsk(request, now, [&](const CompiledRule& rule, Ledger::Ask ask) {
    if (rule.rule->counts == Counts::kFailures) return;
    ask.cost = cost;
    if (correction == Correction::kCharge) {
      ledger_->Charge(ask, now);
    } else {
      ledger_->Refund(ask, now);
    }
  });
}

}  // namespace weir
