#include "rule/rulebook.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace weir::rule {
namespace {

bool CountsByAddress(const Key& key) {
  return std::any_of(key.begin(), key.end(),
                     [](const KeyPart& part) { return part.attribute == kIp; });
}

// What the keys of a counter are told apart by, as text: also the prefix of addresses, because
// 10.0.0.0 of a /8 is not that of a /16.
std::string Identity(const RuleSet& set, const Rule& rule, const Key& key) {
  std::string text = set.space + '\0' + rule.name;
  for (const KeyPart& part : key) {
    text += '\0' + part.attribute;
    if (part.attribute == kIp) {
      text += '/' + std::to_string(part.bits.v4) + '/' + std::to_string(part.bits.v6);
    }
  }
  return text;
}

}  // namespace

Permits CompiledRule::CostOf(const Values& values) const {
  if (!cost_attribute) return rule->cost.fixed;
  const Result<std::uint64_t> told = ParseCount(values[*cost_attribute]);
  return told ? Permits{std::max<std::uint64_t>(*told, 1)} : rule->cost.fixed;
}

class Rulebook::Compiler {
 public:
  Compiler(Rulebook& book, Problems& problems) : book_(book), problems_(problems) {}

  void Compile() {
    for (const RuleSet& set : book_.sets_) {
      if (book_.spaces_.contains(set.space)) {
        problems_.push_back(
            {set.space, {}, "", "the namespace is there twice", "put its rules into one file"});
        continue;
      }
      CompileSpace(set, book_.spaces_[set.space]);
    }
  }

 private:
  void CompileSpace(const RuleSet& set, Space& space) {
    space.set_ = &set;
    if (!NumberAttributes(set, space.schema_)) return;
    space.rules_.reserve(set.rules.size());
    // Rules that are found by their descriptors, or are off, match nothing here.
    static const Match kNothing = {{.attribute = std::string(kIp), .any_of = {}}};
    std::vector<const Match*> matches;
    for (const Rule& rule : set.rules) {
      const bool asked = !rule.descriptor && rule.mode != Mode::kOff;
      matches.push_back(asked ? &rule.match : &kNothing);
      space.rules_.push_back(CompileRule(set, rule, space.schema_));
    }
    space.index_.emplace(matches, space.schema_);
    space.descriptors_.emplace(set.rules);
  }

  // Gives each attribute that a rule speaks of its number. False if there are too many.
  bool NumberAttributes(const RuleSet& set, Schema& schema) {
    const std::size_t before = problems_.size();
    for (const Rule& rule : set.rules) {
      const auto add = [&](const Match& match) {
        for (const Condition& condition : match) Number(set, rule, condition.attribute, schema);
      };
      add(rule.match);
      for (const Override& other : rule.overrides) add(other.when);
      for (const Key& key : rule.keys) {
        for (const KeyPart& part : key) Number(set, rule, part.attribute, schema);
      }
      if (!rule.cost.attribute.empty()) Number(set, rule, rule.cost.attribute, schema);
    }
    return problems_.size() == before;
  }

  CompiledRule CompileRule(const RuleSet& set, const Rule& rule, Schema& schema) {
    CompiledRule compiled;
    compiled.rule = &rule;
    if (!rule.cost.attribute.empty()) {
      compiled.cost_attribute = Number(set, rule, rule.cost.attribute, schema);
    }
    if (!rule.overrides.empty()) {
      std::vector<const Match*> matches;
      for (const Override& other : rule.overrides) {
        matches.push_back(&other.when);
        compiled.override_allowances.push_back(CompileAllowance(other.allowance));
      }
      compiled.overrides.emplace(matches, schema);
    }
    for (const Key& key : rule.keys) {
      compiled.counters.push_back(CompileCounter(set, rule, key, rule.allowance, schema));
      if (!CountsByAddress(key)) continue;
      for (const Tier& tier : rule.tiers) {
        Key wider = key;
        for (KeyPart& part : wider) part.bits = tier.bits;
        compiled.counters.push_back(CompileCounter(set, rule, wider, tier.allowance, schema));
        compiled.counters.back().is_tier = true;
      }
    }
    return compiled;
  }

  Counter CompileCounter(const RuleSet& set, const Rule& rule, const Key& key,
                         const Allowance& allowance, Schema& schema) {
    const std::string identity = Identity(set, rule, key);
    Counter counter{.id = XXH3_64bits(identity.data(), identity.size()),
                    .key = {},
                    .allowance = CompileAllowance(allowance)};
    for (const KeyPart& part : key) {
      counter.key.push_back({.attribute = Number(set, rule, part.attribute, schema),
                             .is_address = part.attribute == kIp,
                             .bits = part.bits});
    }
    return counter;
  }

  CompiledAllowance CompileAllowance(const Allowance& allowance) {
    if (std::holds_alternative<Unlimited>(allowance)) return {};
    if (std::holds_alternative<Blocked>(allowance)) {
      return {.kind = CompiledAllowance::Kind::kBlocked, .limits = {}};
    }
    const Limit& limit = std::get<Limit>(allowance);
    CompiledAllowance compiled{.kind = CompiledAllowance::Kind::kLimited, .limits = {}};
    for (const Algorithm& part : limit.parts()) {
      const Limit single = Limit(part).Soft(limit.soft_percent());
      const auto [known, is_new] =
          numbers_.emplace(single.ToString(), static_cast<std::uint32_t>(book_.limits_.size()));
      if (is_new) book_.limits_.push_back(single);
      compiled.limits.push_back(known->second);
    }
    return compiled;
  }

  Schema::Number Number(const RuleSet& set, const Rule& rule, std::string_view attribute,
                        Schema& schema) {
    const auto number = schema.Add(attribute);
    if (!number) {
      problems_.push_back({set.space,
                           {},
                           rule.name,
                           "the rules of a namespace may speak of 64 attributes, and '" +
                               std::string(attribute) + "' is one too many",
                           "use fewer, or another namespace"});
    }
    return number.value_or(Schema::kIpNumber);
  }

  Rulebook& book_;
  Problems& problems_;
  std::map<std::string, std::uint32_t> numbers_;  // of limits, by their text
};

std::unique_ptr<const Rulebook> Rulebook::Compile(std::vector<RuleSet> sets, Problems& problems) {
  std::unique_ptr<Rulebook> book(new Rulebook);
  book->sets_ = std::move(sets);
  const std::size_t before = problems.size();
  Compiler(*book, problems).Compile();
  if (problems.size() > before) return nullptr;
  return book;
}

const Space* Rulebook::Find(std::string_view space) const {
  const auto found = spaces_.find(space);
  return found != spaces_.end() ? &found->second : nullptr;
}

}  // namespace weir::rule
