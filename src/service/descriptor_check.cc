#include "service/descriptor_check.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "rule/key.h"
#include "rule/utf8.h"
#include "service/policy.h"
#include "service/rule_in_use.h"
#include "service/shown_values.h"

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

struct Hits {
  std::uint64_t count;
  HitsAre are;
};

Hits HitsOf(const DescriptorRequest& request, const DescriptorAsk& ask) {
  return {ask.hits.value_or(std::max<std::uint32_t>(request.hits, 1)), ask.hits_are};
}

// What one limit of a descriptor said, as its status would put it.
struct Said {
  bool over;
  ToldLimit limit;
  std::uint32_t remaining;
  std::optional<Nanos> until_reset;
};

// Of several limits of a rule, the status tells the one that matters most.
bool Outweighs(const Said& said, const DescriptorStatus& status, bool was_over) {
  if (!status.limit || said.over != was_over) return !status.limit || said.over;
  if (said.over) {
    const Nanos never = Nanos::max();
    return said.until_reset.value_or(never) > status.until_reset.value_or(never);
  }
  return said.remaining < status.remaining;
}

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
  rules_.reset();
}

// One check, on its way from the descriptors to the reply.
class DescriptorChecker::Round {
 public:
  Round(Checker& checker, const DescriptorOptions& options, const DescriptorRequest& request,
        Instant now, DescriptorReply& reply)
      : checker_(checker),
        ledger_(checker.ledger()),
        options_(options),
        request_(request),
        now_(now),
        reply_(reply),
        active_(**reply.rules_),
        space_(*reply.space_) {}

  void Run() {
    for (DescriptorStatus& status : reply_.statuses_) status.in_quota = options_.quota_mode;
    FindRules();
    for (std::uint32_t i = 0; i < request_.descriptors.size(); ++i) {
      if (request_.descriptors[i].limit) {
        CountOverride(i);
      } else if (reply_.matches_[i].kind == Kind::kLimit) {
        Ask(i);
      }
    }
    TakePending();
    Judge();
    if (!checker_.observes()) return;
    CountOutcomes();
    if (checker_.watch().IsTurn(now_)) Show();
  }

 private:
  void FindRules() {
    for (const DescriptorAsk& ask : request_.descriptors) {
      rule::DescriptorMatch& match = reply_.matches_.emplace_back();
      KeyHash& key = reply_.keys_.emplace_back();
      if (ask.limit) continue;
      match = space_.descriptors().Find(ask.entries, reply_.key_values_);
      if (match.kind != Kind::kLimit) continue;
      const CompiledRule& rule = space_.rules()[match.rule];
      if (!IsInForce(rule, now_)) {
        match.kind = Kind::kNoLimit;  // it replaces nothing either
        continue;
      }
      rule::KeyBytes bytes(rule.counters[0].id, ledger_.seed());
      for (const std::string_view value : reply_.key_values_) bytes.Add(value);
      key = ledger_.Hash(bytes.bytes());
    }
    space_.descriptors().Replace(reply_.matches_);
  }

  void CountOverride(std::uint32_t number) {
    const DescriptorAsk& ask = request_.descriptors[number];
    const LimitUnit unit = ask.limit->unit;
    const CountingWindow& window = active_.counting.ForUnit(unit);
    if (!window) return;
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

  // Finds out at once what can be; what has to be taken together is put aside.
  void Ask(std::uint32_t number) {
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
    for (std::size_t i = 0; i < allowance.limits.size(); ++i) {
      AskLimit(number, allowance.limits[i], Derive(key, i), enforced);
    }
  }

  void AskLimit(std::uint32_t number, std::uint32_t limit, KeyHash key, bool enforced) {
    if (const CountingWindow& window = active_.counting.ForLimit(limit)) {
      const Tally tally = CountHits(window, key, number);
      Say(number, enforced, InWindow(tally, window.threshold, ToldOf(limit, number)));
      return;
    }
    const DescriptorStatus& status = reply_.statuses_[number];
    const Hits hits = HitsOf(request_, request_.descriptors[number]);
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

  Tally CountHits(const CountingWindow& window, KeyHash key, std::uint32_t number) {
    const Hits hits = HitsOf(request_, request_.descriptors[number]);
    return hits.are == HitsAre::kTaken ? Count(ledger_, window, key, hits.count, now_)
                                       : Uncount(ledger_, window, key, hits.count, now_);
  }

  void TakePending() {
    if (IsRefused()) {
      Look(reply_.enforced_, true);
      Look(reply_.shadow_, false);
      return;
    }
    Take(reply_.enforced_, true);
    if (IsRefused()) {
      Look(reply_.shadow_, false);
      return;
    }
    // Each rule in shadow by itself, as if it were enforced.
    const std::span<const DescriptorReply::Pending> shadow = reply_.shadow_;
    for (std::size_t first = 0, last = 0; first < shadow.size(); first = last) {
      while (last < shadow.size() && shadow[last].descriptor == shadow[first].descriptor) ++last;
      Take(shadow.subspan(first, last - first), false);
    }
  }

  void Look(std::span<const DescriptorReply::Pending> pending, bool enforced) {
    for (const DescriptorReply::Pending& one : pending) {
      Say(one.descriptor, enforced,
          InDecision(ledger_.Peek(one.ask, now_), one.limit, one.descriptor));
    }
  }

  void Take(std::span<const DescriptorReply::Pending> pending, bool enforced) {
    if (pending.empty()) return;
    reply_.asks_.clear();
    for (const DescriptorReply::Pending& one : pending) reply_.asks_.push_back(one.ask);
    reply_.taken_.assign(pending.size(), {});
    ledger_.TakeAll(reply_.asks_, reply_.taken_, now_);
    for (std::size_t i = 0; i < pending.size(); ++i) {
      Say(pending[i].descriptor, enforced,
          InDecision(reply_.taken_[i].decision, pending[i].limit, pending[i].descriptor));
    }
  }

  // --- bans

  [[nodiscard]] Ledger::Ask BanOf(const CompiledRule& rule, KeyHash key) const {
    return {active_.bans.at(rule.rule->exceed.time).get(), Derive(key, kBan)};
  }

  bool IsBanned(const CompiledRule& rule, KeyHash key, std::uint32_t number, bool enforced) {
    if (rule.rule->exceed.what != rule::Exceed::kBan) return false;
    const Decision banned = ledger_.Peek(BanOf(rule, key), now_);
    if (banned) return false;
    const std::uint32_t limit = rule.counters[0].allowance.limits[0];
    reply_.statuses_[number].banned = enforced;
    Say(number, enforced, {true, ToldOf(limit, number), 0, banned.retry_after});
    return true;
  }

  // Who asked for more than its limit allows. Asking again counts no further while it lasts.
  void Ban(std::uint32_t number) {
    DescriptorStatus& status = reply_.statuses_[number];
    const Hits hits = HitsOf(request_, request_.descriptors[number]);
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
  // nobody is banned for that. Nor for asking for what can never be had.
  [[nodiscard]] bool StaysOver(std::uint32_t number, std::uint64_t hits) {
    const CompiledAllowance& allowance = reply_.statuses_[number].rule->counters[0].allowance;
    for (std::size_t i = 0; i < allowance.limits.size(); ++i) {
      const std::uint32_t limit = allowance.limits[i];
      const Ledger::Ask ask{active_.limits[limit].get(), Derive(reply_.keys_[number], i),
                            Permits{hits}};
      if (active_.counting.ForLimit(limit)) return true;
      if (ledger_.Peek(ask, now_).verdict == Verdict::kDeny) return true;
    }
    return false;
  }

  // --- what is said

  [[nodiscard]] ToldLimit ToldOf(std::uint32_t limit, std::uint32_t number) const {
    const Policy policy = PolicyOf(active_.book->limits()[limit]);
    return {Fitting(policy.quota.count), UnitOf(policy.window),
            reply_.statuses_[number].rule->rule->descriptor->limit_name};
  }

  static Said InWindow(const Tally& tally, std::uint64_t threshold, const ToldLimit& told) {
    const std::uint64_t used = std::min<std::uint64_t>(tally.count, told.requests);
    const bool over = tally.count > threshold;
    return {over, told, over ? 0U : Fitting(told.requests - used), tally.until_reset};
  }

  [[nodiscard]] Said InDecision(const Decision& decision, std::uint32_t limit,
                                std::uint32_t number) const {
    Said said{!decision.allowed(), ToldOf(limit, number), Fitting(decision.remaining.count),
              UntilMore(decision)};
    if (said.until_reset == Nanos::max()) said.until_reset.reset();
    return said;
  }

  void Say(std::uint32_t number, bool enforced, const Said& said) {
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
  [[nodiscard]] bool IsRefused() const {
    std::size_t quotas = 0;
    std::size_t quotas_over = 0;
    for (const DescriptorStatus& status : reply_.statuses_) {
      if (status.over && !status.in_quota) return true;
      quotas += status.in_quota ? 1 : 0;
      quotas_over += status.over ? 1 : 0;
    }
    return quotas > 0 && quotas_over == quotas;
  }

  void Judge() {
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

  // --- what is counted

  static RuleOutcome OutcomeOf(const DescriptorStatus& status) {
    if (status.over) return status.banned ? RuleOutcome::kBanned : RuleOutcome::kDenied;
    return status.over_in_shadow ? RuleOutcome::kShadowDenied : RuleOutcome::kAllowed;
  }

  void CountOutcomes() const {
    bool matched = false;
    for (const DescriptorStatus& status : reply_.statuses_) {
      matched |= status.limit.has_value() || status.rule != nullptr;
      if (status.rule != nullptr) active_.counters.Count(*status.rule, OutcomeOf(status));
    }
    active_.counters.Count(space_, reply_.refused_ ? RequestOutcome::kDenied
                                   : matched       ? RequestOutcome::kAllowed
                                                   : RequestOutcome::kUnmatched);
  }

  // Adds the decision to what is watched.
  void Show() const {
    SeenDecision seen{.at = now_,
                      .space = space_.name(),
                      .attributes = {},
                      .allowed = !reply_.refused_,
                      .cost = Permits{std::max<std::uint32_t>(request_.hits, 1)},
                      .allowed_by = {},
                      .parts = {}};
    std::vector<Watch::Use> uses;
    seen.parts.reserve(reply_.statuses_.size());  // uses look at them
    for (std::size_t i = 0; i < reply_.statuses_.size(); ++i) {
      const DescriptorStatus& status = reply_.statuses_[i];
      if (status.rule == nullptr) continue;
      const DescriptorAsk& ask = request_.descriptors[i];
      std::string key;
      for (const rule::RequestEntry& entry : ask.entries) {
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
      const Hits hits = HitsOf(request_, ask);
      const bool denied = status.over || status.over_in_shadow;
      const bool consumes = !denied && !reply_.refused_ && hits.are == HitsAre::kTaken;
      uses.push_back({.rule = status.rule->rule->name,
                      .key = seen.parts.back().key,
                      .consumed = consumes ? hits.count : 0,
                      .denied = denied});
    }
    checker_.watch().Add(std::move(seen), uses);
  }

  [[nodiscard]] std::string ShownLimit(const CompiledRule& rule) const {
    const CompiledAllowance& allowance = rule.counters[0].allowance;
    if (allowance.kind == CompiledAllowance::Kind::kUnlimited) return "unlimited";
    if (allowance.kind == CompiledAllowance::Kind::kBlocked) return "blocked";
    std::string text;
    for (const std::uint32_t limit : allowance.limits) {
      text.append(text.empty() ? "" : " + ").append(active_.limit_texts[limit]);
    }
    return text;
  }

  Checker& checker_;
  Ledger& ledger_;
  const DescriptorOptions& options_;
  const DescriptorRequest& request_;
  const Instant now_;
  DescriptorReply& reply_;
  const ActiveRules& active_;
  const rule::Space& space_;
};

void DescriptorChecker::Check(const DescriptorRequest& request, Instant now,
                              DescriptorReply& reply) const {
  reply.Clear();
  const ActiveRules& active = *reply.rules_.emplace(checker_.rules());
  reply.statuses_.resize(request.descriptors.size());
  reply.space_ = active.book->Find(request.domain);
  if (reply.space_ == nullptr) {
    checker_.counters().CountUnknownSpace();
    return;
  }
  Round(checker_, options_, request, now, reply).Run();
}

}  // namespace weir
