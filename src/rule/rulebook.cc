#include "rule/rulebook.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/same_few.h"

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

Permits CompiledRule::CostTold(std::string_view text) const {
  std::uint64_t told = 0;
  const auto [stop, problem] = std::from_chars(text.data(), text.data() + text.size(), told);
  if (problem == std::errc::result_out_of_range) return Permits{UINT64_MAX};
  if (problem != std::errc{} || stop != text.data() + text.size()) return rule->cost.fixed;
  return Permits{std::max<std::uint64_t>(told, 1)};
}

std::optional<std::uint32_t> CompiledRule::FirstInForce(const Values& values, Instant now) const {
  return overrides->First(
      values, [&](std::uint32_t at) { return !IsOver(rule->overrides[at].until, now); });
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
      const auto number = static_cast<std::uint32_t>(book_.spaces_.size());
      Space& space = book_.spaces_[set.space];
      space.number_ = number;
      CompileSpace(set, space);
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
      space.rules_.back().number = book_.rule_count_++;
    }
    space.sources_ = RequestSources::Of(space.schema_);
    space.index_.emplace(matches, space.schema_);
    space.asked_ = AttributesOf(matches, space.schema_);
    space.classes_ = ClassesOf(set, space.schema_);
    static std::atomic<std::uint64_t> serial{0};
    space.serial_ = ++serial;
    space.descriptors_.emplace(set.rules);
  }

  static std::vector<Schema::Number> AttributesOf(std::span<const Match* const> matches,
                                                  const Schema& schema) {
    std::set<Schema::Number> numbers;
    for (const Match* match : matches) {
      for (const Condition& condition : *match) {
        if (!condition.any_of.empty()) numbers.insert(schema.Find(condition.attribute).value());
      }
    }
    return {numbers.begin(), numbers.end()};
  }

  // By all that decides which rules and overrides count.
  static ClassScheme ClassesOf(const RuleSet& set, const Schema& schema) {
    std::vector<const Condition*> conditions;
    const auto add = [&](const Match& match) {
      for (const Condition& condition : match) conditions.push_back(&condition);
    };
    for (const Rule& rule : set.rules) {
      if (rule.descriptor || rule.mode == Mode::kOff) continue;
      add(rule.match);
      for (const Override& other : rule.overrides) add(other.when);
    }
    return {conditions, schema};
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
        compiled.override_allowances.back().salt = SaltOf(rule, other.when);
        compiled.overrides_end |= other.until.has_value();
      }
      compiled.overrides.emplace(matches, schema);
    }
    const auto add = [&](const Key& key, const Allowance& allowance, bool is_tier) {
      Counter counter = CompileCounter(set, rule, key, allowance, schema);
      counter.is_tier = is_tier;
      // Two keys may be as wide in the same tier: a request is counted in it once.
      const auto same = [&](const Counter& other) { return other.id == counter.id; };
      if (std::none_of(compiled.counters.begin(), compiled.counters.end(), same)) {
        compiled.counters.push_back(std::move(counter));
      }
    };
    for (const Key& key : rule.keys) {
      add(key, rule.allowance, false);
      if (!CountsByAddress(key)) continue;
      for (const Tier& tier : rule.tiers) {
        Key wider = key;
        for (KeyPart& part : wider) part.bits = tier.bits;
        add(wider, tier.allowance, true);
      }
    }
    return compiled;
  }

  // An override whose conditions speak of the key alone stands for the same keys as the rule, and
  // takes over what they have counted. Any other makes requests of one key change between two
  // limits all the time: it counts by itself.
  static std::uint64_t SaltOf(const Rule& rule, const Match& when) {
    const auto in_keys = [&](const Condition& condition) {
      return std::all_of(rule.keys.begin(), rule.keys.end(), [&](const Key& key) {
        return std::any_of(key.begin(), key.end(), [&](const KeyPart& part) {
          return part.attribute == condition.attribute && part.attribute != kIp;
        });
      });
    };
    if (std::all_of(when.begin(), when.end(), in_keys)) return 0;
    std::string text;
    for (const Condition& condition : when) {
      text += condition.attribute + (condition.negated ? "\1" : "\2");
      for (const Pattern& pattern : condition.any_of) {
        text += static_cast<char>(pattern.kind) + pattern.text + '\0';
      }
    }
    return XXH3_64bits(text.data(), text.size());
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
  // Where there are a few, to look at each costs less than to search. Most books have one.
  constexpr std::size_t kFew = 3;
  if (spaces_.size() <= kFew) {
    for (const auto& [name, found] : spaces_) {
      if (SameFew(name, space)) return &found;
    }
    return nullptr;
  }
  const auto found = spaces_.find(space);
  return found != spaces_.end() ? &found->second : nullptr;
}

}  // namespace weir::rule
