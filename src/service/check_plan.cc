#include "service/check_plan.h"

#include <algorithm>
#include <utility>

#include "rule/key.h"
#include "service/rule_in_use.h"

namespace weir {
namespace {

using rule::CompiledAllowance;
using rule::CompiledRule;

// Whether all that a rule does is to take from its limits, at any time and for any key.
bool IsPlain(const CompiledRule& compiled) {
  const rule::Rule& rule = *compiled.rule;
  return !rule.allow && !rule.expires && !compiled.overrides_end &&
         rule.mode == rule::Mode::kEnforce && rule.enforce_percent == 100 &&
         rule.exceed.what != rule::Exceed::kDelay && rule.counts == rule::Counts::kEverything &&
         !rule.elastic && rule.sharing == rule::Sharing::kNone && !compiled.cost_attribute;
}

bool SameKey(std::span<const rule::CompiledKeyPart> a, std::span<const rule::CompiledKeyPart> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& one, const auto& other) {
    return one.attribute == other.attribute && one.bits == other.bits;
  });
}

class Planner {
 public:
  Planner(const ActiveRules& active, const rule::Values& values, CheckPlan& plan)
      : active_(active), values_(values), plan_(plan) {}

  // False if the plan is not a short one.
  bool Add(const CompiledRule& rule) {
    if (!IsPlain(rule)) return false;
    const CompiledAllowance* other = rule.OverrideFor(values_, Instant{});
    for (const rule::Counter& counter : rule.counters) {
      if (other != nullptr && counter.is_tier) continue;
      const CompiledAllowance& allowance = other != nullptr ? *other : counter.allowance;
      if (allowance.kind == CompiledAllowance::Kind::kUnlimited) continue;
      if (!rule::HashValues(counter.key, values_, 0)) continue;
      if (allowance.kind == CompiledAllowance::Kind::kBlocked) return false;
      if (plan_.parts.size() + allowance.limits.size() > CheckPlan::kMostParts) return false;
      AddParts(rule, counter, allowance);
    }
    const bool has_a_say = !plan_.findings.empty() && plan_.findings.back().rule == &rule;
    if (has_a_say) plan_.allowed.push_back(active_.counters.CellOf(rule, RuleOutcome::kAllowed));
    return true;
  }

 private:
  void AddParts(const CompiledRule& rule, const rule::Counter& counter,
                const CompiledAllowance& allowance) {
    const KeyHash in_counter = rule::KeyIn(counter.id ^ allowance.salt, KeyHash{0, 0});
    const std::uint32_t values = NumberOf(counter.key);
    if (rule.rule->exceed.what == rule::Exceed::kBan) {
      plan_.bans.push_back(Ledger::PartOf(*active_.bans.at(rule.rule->exceed.time),
                                          Derive(in_counter, kBan), Permits{1}, values));
    }
    for (std::size_t i = 0; i < allowance.limits.size(); ++i) {
      const std::uint32_t number = allowance.limits[i];
      plan_.parts.push_back(Ledger::PartOf(*active_.limits[number], Derive(in_counter, i),
                                           rule.rule->cost.fixed, values));
      plan_.findings.push_back(
          {&rule, &active_.book->limits()[number], {}, Finding::Why::kLimit, true});
    }
  }

  std::uint32_t NumberOf(std::span<const rule::CompiledKeyPart> key) {
    const auto known = std::find_if(plan_.values.begin(), plan_.values.end(),
                                    [&](const auto& other) { return SameKey(key, other); });
    const auto number = static_cast<std::uint32_t>(known - plan_.values.begin());
    if (known == plan_.values.end()) plan_.values.push_back(key);
    return number;
  }

  const ActiveRules& active_;
  const rule::Values& values_;
  CheckPlan& plan_;
};

}  // namespace

CheckPlans::Known::Known(const rule::Space& space)
    : serial(space.serial()),
      is_usable(space.classes().is_usable()),
      classes(is_usable ? std::make_unique<rule::RequestClasses>(space.classes()) : nullptr) {}

bool CheckPlans::Open(const rule::Space& space) {
  const std::size_t place = space.serial() % kSpaces;
  std::unique_ptr<Known>& known = known_[place];
  if (known == nullptr || known->serial != space.serial()) {
    if (known != nullptr) {
      if (++turned_away_[place] < kPatience) return false;
      retired_ = std::move(known);
    }
    known = std::make_unique<Known>(space);
    turned_away_[place] = 0;
  }
  last_ = known.get();
  return true;
}

const CheckPlan* CheckPlans::GiveUp() {
  if (last_->is_usable && last_->classes->is_full()) {
    retired_ = std::move(known_[last_->serial % kSpaces]);
    last_ = nullptr;
  }
  return nullptr;
}

const CheckPlan* CheckPlans::Add(const ActiveRules& active, const rule::Space& space,
                                 const rule::Values& values) {
  auto plan = std::make_unique<CheckPlan>();
  space.Find(values, plan->found);
  Planner planner(active, values, *plan);
  plan->is_short = std::all_of(plan->found.begin(), plan->found.end(), [&](std::uint32_t number) {
    return planner.Add(space.rules()[number]);
  });
  plan->allowed.push_back(active.counters.CellOf(space, RequestOutcome::kAllowed));
  plan->is_counted_short =
      !plan->findings.empty() &&
      std::all_of(plan->allowed.begin(), plan->allowed.end(),
                  [](const CoreCounters::Cell* cell) { return cell != nullptr; });
  return last_->plans.emplace_back(std::move(plan)).get();
}

}  // namespace weir
