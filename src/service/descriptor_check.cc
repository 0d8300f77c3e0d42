#include "service/descriptor_check.h"

#include <algorithm>
#include <limits>

#include "rule/key.h"
#include "service/descriptor_round.h"
#include "service/policy.h"
#include "service/rule_in_use.h"

namespace weir {

using rule::CompiledAllowance;
using rule::CompiledRule;
using Kind = rule::DescriptorMatch::Kind;

namespace {

std::uint32_t Fitting(std::uint64_t number) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(number, std::numeric_limits<std::uint32_t>::max()));
}

// Windows follow each other from the epoch. At the first instant of one, all of it is left.
Nanos UntilWindowEnds(Nanos length, Instant now) {
  return length - now.time_since_epoch() % length;
}

// Keys of overrides, which belong to no rule. No counter of a rule has this number but by chance.
constexpr std::uint64_t kOverrides = 0x6F76'6572'7269'6465;

}  // namespace

void DescriptorReply::Clear() {
  space_ = nullptr;
  refused_ = false;
  decisive_.reset();
  statuses_.clear();
  matches_.clear();
  keys_.clear();
  enforced_.clear();
  shadow_.clear();
  step_ = Step::kNew;
  took_ = false;
  if (shared_.cluster != nullptr) shared_.Clear();
  rules_.reset();
}

// --- the way
// ---------------------------------------------------------------------------------------

void DescriptorChecker::Check(const DescriptorRequest& request, Instant now,
                              DescriptorReply& reply) const {
  using Step = DescriptorReply::Step;
  const bool goes_on = reply.shared_.cluster != nullptr && reply.step_ != Step::kNew;
  if (!goes_on) {
    reply.Clear();
    const ActiveRules& active = *reply.rules_.emplace(checker_.rules());
    reply.statuses_.resize(request.descriptors.size());
    reply.space_ = active.book->Find(request.domain);
    if (reply.space_ == nullptr) {
      reply.step_ = Step::kDone;
      checker_.counters().CountUnknownSpace();
    }
  }
  if (reply.step_ != Step::kDone) Round(checker_, options_, request, now, reply).Run();
}

void DescriptorChecker::Round::Run() {
  if (reply_.step_ == Step::kNew) {
    Begin();
    AskCluster(reply_.shared_.alone, Cluster::Intent::kTake);
    reply_.step_ = Step::kAskedAlone;
  }
  if (reply_.is_waiting()) return;
  if (reply_.step_ == Step::kAskedAlone) {
    SayShared(reply_.shared_.alone);
    TakeEnforced();
    reply_.step_ = Step::kAskedEnforced;
  }
  if (reply_.is_waiting()) return;
  if (reply_.step_ == Step::kAskedEnforced) {
    SayShared(reply_.shared_.enforced);
    ConcludeEnforced();
    reply_.step_ = Step::kAskedShadow;
  }
  if (reply_.is_waiting()) return;
  SayShared(reply_.shared_.shadow);
  Judge();
  reply_.step_ = Step::kDone;
  if (!checker_.observes()) return;
  CountOutcomes();
  if (checker_.watch().IsTurn(now_)) Show();
}

void DescriptorChecker::Round::Begin() {
  for (DescriptorStatus& status : reply_.statuses_) status.in_quota = options_.quota_mode;
  FindRules();
  for (std::uint32_t i = 0; i < request_.descriptors.size(); ++i) {
    if (request_.descriptors[i].limit) {
      CountOverride(i);
    } else if (reply_.matches_[i].kind == Kind::kLimit) {
      Ask(i);
    }
  }
}

void DescriptorChecker::Round::FindRules() {
  for (const DescriptorAsk& ask : request_.descriptors) {
    rule::DescriptorMatch& match = reply_.matches_.emplace_back();
    KeyHash& key = reply_.keys_.emplace_back();
    const CompiledRule* found = nullptr;
    if (!ask.limit) {
      match = space_.descriptors().Find(ask.entries, reply_.key_values_);
      if (match.kind == Kind::kLimit) found = &space_.rules()[match.rule];
    }
    if (found != nullptr && !IsInForce(*found, now_)) {
      match.kind = Kind::kNoLimit;  // it replaces nothing either
      found = nullptr;
    }
    if (found != nullptr) {
      rule::KeyBytes bytes(found->counters[0].id, ledger_.seed());
      for (const std::string_view value : reply_.key_values_) bytes.Add(value);
      key = ledger_.Hash(bytes.bytes());
    }
    if (has_cluster()) KeepValues(ask, found);
  }
  space_.descriptors().Replace(reply_.matches_);
}

// --- by itself
// ---------------------------------------------------------------------------------------

void DescriptorChecker::Round::CountOverride(std::uint32_t number) {
  const DescriptorAsk& ask = request_.descriptors[number];
  const LimitUnit unit = ask.limit->unit;
  const CountingWindow& window = active_.counting.ForUnit(unit);
  if (!window) return;
  if (has_cluster()) return ShareOverride(number, window);
  rule::KeyBytes bytes(kOverrides + static_cast<std::uint64_t>(unit), ledger_.seed());
  bytes.Add(request_.domain);
  for (const rule::RequestEntry& entry : ask.entries) {
    bytes.Add(entry.key);
    bytes.Add(entry.value);
  }
  const Tally tally = CountHits(window, ledger_.Hash(bytes.bytes()), number);
  const std::uint64_t threshold = std::min<std::uint64_t>(ask.limit->requests, window.most);
  Say(number, true, InWindow(tally, threshold, {ask.limit->requests, unit, {}}));
}

void DescriptorChecker::Round::Ask(std::uint32_t number) {
  const CompiledRule& rule = space_.rules()[reply_.matches_[number].rule];
  const KeyHash key = reply_.keys_[number];
  const CompiledAllowance& allowance = rule.counters[0].allowance;
  DescriptorStatus& status = reply_.statuses_[number];
  status.rule = &rule;
  if (allowance.kind == CompiledAllowance::Kind::kUnlimited) {
    status.in_quota = false;
    status.remaining = DescriptorStatus::kUnlimited;
    return;
  }
  status.in_quota |= rule.rule->descriptor->quota_mode;
  const bool enforced = IsEnforced(rule, key);
  const std::string_view name = rule.rule->descriptor->limit_name;
  if (allowance.kind == CompiledAllowance::Kind::kBlocked) {
    const Nanos window = rule.rule->descriptor->window;
    Said blocked{true, {0, UnitOf(window), name}, 0, std::nullopt};
    if (window > Nanos(0)) blocked.until_reset = UntilWindowEnds(window, now_);
    Say(number, enforced, blocked);
    return;
  }
  if (IsBanned(rule, key, number, enforced)) return;
  const bool is_shared = IsShared(rule);
  for (std::size_t i = 0; i < allowance.limits.size(); ++i) {
    if (is_shared) {
      ShareLimit(number, i, enforced);
    } else {
      AskLimit(number, i, enforced);
    }
  }
}

void DescriptorChecker::Round::AskLimit(std::uint32_t number, std::size_t place, bool enforced) {
  const DescriptorStatus& status = reply_.statuses_[number];
  const std::uint32_t limit = status.rule->counters[0].allowance.limits[place];
  const KeyHash key = Derive(reply_.keys_[number], place);
  if (const CountingWindow& window = active_.counting.ForLimit(limit)) {
    const Tally tally = CountHits(window, key, number);
    Say(number, enforced, InWindow(tally, window.threshold, ToldOf(limit, number)));
    return;
  }
  const Hits hits = HitsOf(number);
  Ledger::Ask ask{active_.limits[limit].get(), key, Permits{hits.count}};
  if (hits.are == HitsAre::kGivenBack) {
    ledger_.Refund(ask, now_);
    ask.cost = Permits{0};
    Say(number, enforced, InDecision(ledger_.Peek(ask, now_), limit, number));
  } else if (status.rule->rule->counts == rule::Counts::kFailures) {
    Say(number, enforced, InDecision(ledger_.Peek(ask, now_), limit, number));
  } else if (enforced && status.in_quota) {
    // One that refuses may not matter, so nothing else hangs on it.
    Say(number, enforced, InDecision(ledger_.Reserve(ask, now_).decision, limit, number));
  } else {
    (enforced ? reply_.enforced_ : reply_.shadow_).push_back({ask, number, limit});
  }
}

Tally DescriptorChecker::Round::CountHits(const CountingWindow& window, KeyHash key,
                                          std::uint32_t number) {
  const Hits hits = HitsOf(number);
  return hits.are == HitsAre::kTaken ? Count(ledger_, window, key, hits.count, now_)
                                     : Uncount(ledger_, window, key, hits.count, now_);
}

// --- all or nothing
// ---------------------------------------------------------------------------------------

void DescriptorChecker::Round::TakeEnforced() {
  if (IsRefused()) {
    Look(reply_.enforced_, true);
  } else if (Take(reply_.enforced_, reply_.taken_)) {
    reply_.took_ = true;
    AskCluster(reply_.shared_.enforced, Cluster::Intent::kTake);
    return;
  } else {
    SayTaken(reply_.enforced_, reply_.taken_, true);
  }
  Look(reply_.shadow_, false);
  AskCluster(reply_.shared_.enforced, Cluster::Intent::kLook);
  AskCluster(reply_.shared_.shadow, Cluster::Intent::kLook);
}

// What this host has taken meanwhile goes back if the cluster refuses.
void DescriptorChecker::Round::ConcludeEnforced() {
  if (!reply_.took_) return;
  if (reply_.shared_.enforced.empty() || !IsRefused()) {
    SayTaken(reply_.enforced_, reply_.taken_, true);
    TakeShadow();
    AskCluster(reply_.shared_.shadow, Cluster::Intent::kTake);
    return;
  }
  for (std::size_t i = 0; i < reply_.enforced_.size(); ++i) {
    ledger_.Cancel(reply_.enforced_[i].ask, reply_.taken_[i], now_);
  }
  reply_.took_ = false;
  Look(reply_.enforced_, true);
  Look(reply_.shadow_, false);
  AskCluster(reply_.shared_.shadow, Cluster::Intent::kLook);
}

void DescriptorChecker::Round::Look(std::span<const Pending> pending, bool enforced) {
  for (const Pending& one : pending) {
    Say(one.descriptor, enforced,
        InDecision(ledger_.Peek(one.ask, now_), one.limit, one.descriptor));
  }
}

// Whether all of it was there.
bool DescriptorChecker::Round::Take(std::span<const Pending> pending,
                                    std::vector<Reservation>& taken) {
  if (pending.empty()) return true;
  reply_.asks_.clear();
  for (const Pending& one : pending) reply_.asks_.push_back(one.ask);
  taken.assign(pending.size(), {});
  return ledger_.TakeAll(reply_.asks_, taken, now_).allowed();
}

void DescriptorChecker::Round::SayTaken(std::span<const Pending> pending,
                                        std::span<const Reservation> taken, bool enforced) {
  for (std::size_t i = 0; i < pending.size(); ++i) {
    Say(pending[i].descriptor, enforced,
        InDecision(taken[i].decision, pending[i].limit, pending[i].descriptor));
  }
}

// Each rule in shadow by itself, as if it were enforced.
void DescriptorChecker::Round::TakeShadow() {
  const std::span<const Pending> shadow = reply_.shadow_;
  for (std::size_t first = 0, last = 0; first < shadow.size(); first = last) {
    while (last < shadow.size() && shadow[last].descriptor == shadow[first].descriptor) ++last;
    const std::span<const Pending> one = shadow.subspan(first, last - first);
    Take(one, reply_.shadow_taken_);
    SayTaken(one, reply_.shadow_taken_, false);
  }
}

void DescriptorChecker::GiveBack(DescriptorReply& reply, Instant now) const {
  if (!reply.took_) return;
  reply.took_ = false;
  for (std::size_t i = 0; i < reply.enforced_.size(); ++i) {
    checker_.ledger().Cancel(reply.enforced_[i].ask, reply.taken_[i], now);
  }
  if (!reply.shared_.enforced.empty()) reply.shared_.cluster->GiveBack(reply.shared_.enforced);
}

// --- what is said
// ---------------------------------------------------------------------------------------

DescriptorChecker::Round::Hits DescriptorChecker::Round::HitsOf(std::uint32_t number) const {
  const DescriptorAsk& ask = request_.descriptors[number];
  return {ask.hits.value_or(std::max<std::uint32_t>(request_.hits, 1)), ask.hits_are};
}

ToldLimit DescriptorChecker::Round::ToldOf(std::uint32_t limit, std::uint32_t number) const {
  const Policy policy = PolicyOf(active_.book->limits()[limit]);
  return {Fitting(policy.quota.count), UnitOf(policy.window),
          reply_.statuses_[number].rule->rule->descriptor->limit_name};
}

DescriptorChecker::Round::Said DescriptorChecker::Round::InWindow(const Tally& tally,
                                                                  std::uint64_t threshold,
                                                                  const ToldLimit& told) {
  const std::uint64_t used = std::min<std::uint64_t>(tally.count, told.requests);
  const bool over = tally.count > threshold;
  return {over, told, over ? 0U : Fitting(told.requests - used), tally.until_reset};
}

DescriptorChecker::Round::Said DescriptorChecker::Round::InDecision(const Decision& decision,
                                                                    std::uint32_t limit,
                                                                    std::uint32_t number) const {
  Said said{!decision.allowed(), ToldOf(limit, number), Fitting(decision.remaining.count),
            UntilMore(decision)};
  if (said.until_reset == Nanos::max()) said.until_reset.reset();
  return said;
}

// Of several limits of a rule, the status tells the one that matters most.
bool DescriptorChecker::Round::Outweighs(const Said& said, const DescriptorStatus& status,
                                         bool was_over) {
  if (!status.limit || said.over != was_over) return !status.limit || said.over;
  if (said.over) {
    const Nanos never = Nanos::max();
    return said.until_reset.value_or(never) > status.until_reset.value_or(never);
  }
  return said.remaining < status.remaining;
}

void DescriptorChecker::Round::Say(std::uint32_t number, bool enforced, const Said& said) {
  DescriptorStatus& status = reply_.statuses_[number];
  const bool was_over = status.over || status.over_in_shadow;
  if (Outweighs(said, status, was_over)) {
    status.limit = said.limit;
    status.remaining = said.remaining;
    status.until_reset = said.until_reset;
  }
  if (said.over) (enforced ? status.over : status.over_in_shadow) = true;
}

// One that is over refuses; those in quota mode only if all of them are.
bool DescriptorChecker::Round::IsRefused() const {
  std::size_t quotas = 0;
  std::size_t quotas_over = 0;
  for (const DescriptorStatus& status : reply_.statuses_) {
    if (status.over && !status.in_quota) return true;
    quotas += status.in_quota ? 1 : 0;
    quotas_over += status.over ? 1 : 0;
  }
  return quotas > 0 && quotas_over == quotas;
}

void DescriptorChecker::Round::Judge() {
  std::uint32_t least = DescriptorStatus::kUnlimited;
  for (std::uint32_t i = 0; i < reply_.statuses_.size(); ++i) {
    const DescriptorStatus& status = reply_.statuses_[i];
    const bool refuses = status.over && !status.in_quota;
    if (status.limit && (refuses || status.remaining < least)) {
      reply_.decisive_ = i;
      least = refuses ? 0 : status.remaining;
    }
    Ban(i);
  }
  reply_.refused_ = IsRefused() && !options_.shadow_mode;
}

}  // namespace weir
