#include "service/key_lookup.h"

#include <algorithm>
#include <set>
#include <utility>

#include "rule/closest.h"
#include "rule/key.h"
#include "rule/utf8.h"
#include "service/counting_window.h"
#include "service/rule_in_use.h"
#include "service/shown_values.h"

namespace weir {
namespace {

using rule::CompiledAllowance;
using rule::CompiledRule;
using rule::Counter;
using Why = NoSuchKey::Why;

// A counter with the key that the client has in it.
struct Place {
  KeyState::By by;
  std::string text;
  const CompiledAllowance* allowance;
  std::vector<KeyHash> keys;  // the one that counts, then others that counted at other times
};

NoSuchKey NoRule(const KeyQuestion& question, const rule::Space* space) {
  if (space == nullptr) {
    return {Why::kNoSuchRule, "there is no namespace " + rule::Shown(question.space) + " in force"};
  }
  std::string message =
      "there is no rule " + rule::Shown(question.space) + "/" + rule::Shown(question.rule);
  constexpr std::size_t kFew = 20;  // of more, nobody reads the names
  if (space->rules().size() <= kFew) {
    std::vector<std::string_view> names;
    for (const CompiledRule& rule : space->rules()) names.push_back(rule.rule->name);
    message += "; " + rule::Suggest(question.rule, names);
  }
  return {Why::kNoSuchRule, std::move(message)};
}

// One lookup, on its way from the question to the counters.
class Search {
 public:
  Search(Ledger& ledger, const ActiveRules& active, const KeyQuestion& question, Instant now)
      : ledger_(ledger), active_(active), question_(question), now_(now) {}

  // What keeps the client from having a key, if something does.
  std::optional<NoSuchKey> Find() {
    const rule::Space* space = active_.book->Find(question_.space);
    if (space == nullptr) return NoRule(question_, nullptr);
    const auto named = [&](const CompiledRule& rule) { return rule.rule->name == question_.rule; };
    const auto found = std::find_if(space->rules().begin(), space->rules().end(), named);
    if (found == space->rules().end()) return NoRule(question_, space);
    rule_ = &*found;
    if (rule_->rule->allow) {
      return NoSuchKey{Why::kNoKey, "rule " + rule_->rule->name +
                                        " is an allow-list: it counts nothing, so there is no key"};
    }
    if (rule_->rule->sharing != rule::Sharing::kNone) {
      return NoSuchKey{Why::kNoKey,
                       "the limits of rule " + rule_->rule->name +
                           " are shared by a cluster: what is used of them lies in Redis, in keys "
                           "that match weir:*{" +
                           space->name() + "/" + rule_->rule->name +
                           ":*; delete one there to have it forgotten"};
    }
    return rule_->rule->descriptor ? FindByDescriptor(*space) : FindByAttributes(*space);
  }

  [[nodiscard]] std::vector<KeyState> Look() const {
    std::vector<KeyState> states;
    for (const Place& place : places_) {
      KeyState& state = states.emplace_back();
      state.key = place.text;
      state.by = place.by;
      state.allowance = place.allowance->kind;
      for (std::size_t i = 0; i < place.allowance->limits.size(); ++i) {
        const std::uint32_t number = place.allowance->limits[i];
        const Limit& limit = active_.book->limits()[number];
        state.limits.push_back({limit.ToString(), Ask(number, Derive(place.keys[0], i))});
      }
      if (rule_->rule->exceed.what != rule::Exceed::kBan) continue;
      const Ledger::Entered* ban = active_.bans.at(rule_->rule->exceed.time).get();
      const Decision banned = ledger_.Peek({ban, Derive(place.keys[0], kBan)}, now_);
      if (!banned) state.banned_for = banned.retry_after;
    }
    return states;
  }

  void Forget() {
    for (const Place& place : places_) {
      for (const KeyHash key : place.keys) {
        constexpr std::uint64_t kMostLimits = 8;  // of a rule, also one that was changed since
        for (std::uint64_t i = 0; i < kMostLimits; ++i) ledger_.Forget(Derive(key, i));
        ledger_.Forget(Derive(key, kBan));
      }
    }
  }

 private:
  std::optional<NoSuchKey> FindByAttributes(const rule::Space& space) {
    const rule::Values values(space.schema(), question_.attributes);
    const CompiledAllowance* other = rule_->OverrideFor(values, now_);
    std::set<std::string> missing;
    for (const Counter& counter : rule_->counters) {
      if (const auto lacks = Missing(counter, space.schema(), values)) {
        missing.insert(*lacks);
        continue;
      }
      Place place{.by = counter.is_tier    ? KeyState::By::kTier
                        : other != nullptr ? KeyState::By::kOverride
                                           : KeyState::By::kRule,
                  .text = ShownKey(counter.key, space.schema(), values, ledger_.seed()),
                  .allowance = other != nullptr ? other : &counter.allowance,
                  .keys = {}};
      // An override takes the place of the tiers, but they still remember.
      if (other != nullptr && counter.is_tier) place.allowance = &kNothing;
      std::set<std::uint64_t> salts = {0};
      for (const CompiledAllowance& one : rule_->override_allowances) salts.insert(one.salt);
      salts.erase(place.allowance->salt);
      place.keys.push_back(KeyOf(counter, place.allowance->salt, values));
      for (const std::uint64_t salt : salts) place.keys.push_back(KeyOf(counter, salt, values));
      places_.push_back(std::move(place));
    }
    if (!places_.empty()) return std::nullopt;
    std::string names;
    for (const std::string& name : missing) names += (names.empty() ? "" : ", ") + name;
    return NoSuchKey{Why::kNoKey, "rule " + rule_->rule->name + " counts by " + names +
                                      ", which is not among the attributes or makes no sense; tell "
                                      "its value"};
  }

  std::optional<NoSuchKey> FindByDescriptor(const rule::Space& space) {
    std::vector<rule::RequestEntry> entries;
    for (const rule::Attribute& attribute : question_.attributes) {
      entries.push_back({attribute.name, attribute.value});
    }
    std::vector<std::string_view> values;
    const rule::DescriptorMatch match = space.descriptors().Find(entries, values);
    if (match.kind != rule::DescriptorMatch::Kind::kLimit || &space.rules()[match.rule] != rule_) {
      return NoSuchKey{Why::kNoKey,
                       "these attributes, taken for the entries of a descriptor, do "
                       "not find rule " +
                           rule_->rule->name + "; tell them in the rule's order"};
    }
    rule::KeyBytes bytes(rule_->counters[0].id, ledger_.seed());
    std::string text;
    const std::vector<rule::DescriptorEntry>& names = rule_->rule->descriptor->entries;
    for (std::size_t i = 0; i < values.size(); ++i) {
      bytes.Add(values[i]);
      const std::string_view name = i < names.size() ? names[i].key : std::string_view();
      text += (text.empty() ? "" : " ") + std::string(name) + "=" +
              ShownValue(name, values[i], ledger_.seed());
    }
    places_.push_back({KeyState::By::kRule,
                       std::move(text),
                       &rule_->counters[0].allowance,
                       {ledger_.Hash(bytes.bytes())}});
    return std::nullopt;
  }

  // The attribute that a key of this counter cannot be formed without.
  static std::optional<std::string> Missing(const Counter& counter, const rule::Schema& schema,
                                            const rule::Values& values) {
    for (const rule::CompiledKeyPart& part : counter.key) {
      const bool there = part.is_address ? values.ip().has_value() : values.Has(part.attribute);
      if (!there) return schema.names()[part.attribute];
    }
    return std::nullopt;
  }

  KeyHash KeyOf(const Counter& counter, std::uint64_t salt, const rule::Values& values) const {
    return rule::KeyIn(counter.id ^ salt,
                       rule::HashValues(counter.key, values, ledger_.seed()).value());
  }

  // Envoy's windows count on above their limit, and are compared with it: service/counting_window.h
  [[nodiscard]] Decision Ask(std::uint32_t number, KeyHash key) const {
    if (!rule_->rule->descriptor || !active_.counting.ForLimit(number)) {
      return ledger_.Peek({active_.limits[number].get(), key}, now_);
    }
    const CountingWindow& window = active_.counting.ForLimit(number);
    const Tally tally = Count(ledger_, window, key, 0, now_);
    Decision decision;
    decision.reset_after = tally.until_reset;
    if (tally.count < window.threshold) {
      decision.remaining = Permits{window.threshold - tally.count};
    } else {
      decision.verdict = window.threshold == 0 ? Verdict::kNever : Verdict::kDeny;
      decision.retry_after = tally.until_reset;
    }
    return decision;
  }

  static const CompiledAllowance kNothing;

  Ledger& ledger_;
  const ActiveRules& active_;
  const KeyQuestion& question_;
  const Instant now_;
  const CompiledRule* rule_ = nullptr;
  std::vector<Place> places_;
};

const CompiledAllowance Search::kNothing = {};

}  // namespace

KeyLookup LookUpKey(Checker& checker, const KeyQuestion& question, Instant now) {
  const auto active = checker.rules();
  Search search(checker.ledger(), *active, question, now);
  if (auto nothing = search.Find()) return *std::move(nothing);
  return search.Look();
}

KeyLookup ResetKey(Checker& checker, const KeyQuestion& question, Instant now) {
  const auto active = checker.rules();
  Search search(checker.ledger(), *active, question, now);
  if (auto nothing = search.Find()) return *std::move(nothing);
  std::vector<KeyState> before = search.Look();
  search.Forget();
  return before;
}

}  // namespace weir
