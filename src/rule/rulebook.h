// The rules in force, compiled: an immutable value that all who decide share.
//
//     Rulebook --- Space "shop" --- MatchIndex    which rules match a request
//                     |             DescriptorTree   which one a descriptor of Envoy's finds
//                     +--- CompiledRule --- Counter   a key of its own, with an allowance
//                     +--- limits           each once, by number
//
// A rule counts in one or several counters: one for each key of `by`, and for each tier. A request
// that a rule matches forms a key for each of them, and all must agree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rule/attribute.h"
#include "rule/class_scheme.h"
#include "rule/descriptor_tree.h"
#include "rule/match_index.h"
#include "rule/problem.h"
#include "rule/request_sources.h"
#include "rule/rule.h"
#include "weir/limit.h"

namespace weir::rule {

// An allowance, its limits by their numbers in the rulebook. Each is a single limit: several of one
// rule are counted side by side, so that adding one to a rule keeps what the others have counted.
struct CompiledAllowance {
  enum class Kind : std::uint8_t { kUnlimited, kBlocked, kLimited };
  Kind kind = Kind::kUnlimited;
  std::vector<std::uint32_t> limits;
  std::uint64_t salt = 0;  // of an override that counts by itself
};

// What a request's key is made of.
struct CompiledKeyPart {
  Schema::Number attribute;
  bool is_address;
  AddressBits bits;
};

struct Counter {
  // Tells the keys of this counter from those of all others; the same in every process, and for
  // every version of the rule that counts by the same attributes.
  std::uint64_t id = 0;
  std::vector<CompiledKeyPart> key;
  CompiledAllowance allowance;
  bool is_tier = false;
};

struct CompiledRule {
  const Rule* rule = nullptr;  // as it was written
  std::uint32_t number = 0;    // among all rules of the book
  std::vector<Counter> counters;
  std::optional<Schema::Number> cost_attribute;
  std::optional<MatchIndex> overrides;
  std::vector<CompiledAllowance> override_allowances;
  bool overrides_end = false;  // some of them, at a time of their own

  // The override that counts for a request, if one does: it takes the place of the rule's own
  // allowance, and of its tiers.
  [[nodiscard]] const CompiledAllowance* OverrideFor(const Values& values, Instant now) const {
    if (!overrides) return nullptr;
    const auto first = overrides_end ? FirstInForce(values, now) : overrides->First(values);
    return first ? &override_allowances[*first] : nullptr;
  }
  // What a request costs under this rule.
  [[nodiscard]] Permits CostOf(const Values& values) const {
    return cost_attribute ? CostTold(values[*cost_attribute]) : rule->cost.fixed;
  }

 private:
  [[nodiscard]] Permits CostTold(std::string_view text) const;
  [[nodiscard]] std::optional<std::uint32_t> FirstInForce(const Values& values, Instant now) const;
};

// One namespace.
class Space {
 public:
  [[nodiscard]] const std::string& name() const { return set_->space; }
  [[nodiscard]] std::uint32_t number() const { return number_; }  // among the namespaces
  [[nodiscard]] const Schema& schema() const { return schema_; }
  [[nodiscard]] const RequestSources& sources() const { return sources_; }  // of the schema
  [[nodiscard]] std::span<const CompiledRule> rules() const { return rules_; }

  // The numbers of the rules that match, in their order; rules with descriptors are not among them.
  void Find(const Values& values, std::vector<std::uint32_t>& found) const {
    index_->Find(values, found);
  }
  // The attributes that it takes to find them.
  [[nodiscard]] std::span<const Schema::Number> asked() const { return asked_; }
  // What tells requests apart that rules tell apart: which rules match, which overrides count, and
  // which attributes are there.
  [[nodiscard]] const ClassScheme& classes() const { return classes_; }
  // Of all that were ever compiled in this process, no other has it.
  [[nodiscard]] std::uint64_t serial() const { return serial_; }
  [[nodiscard]] const DescriptorTree& descriptors() const { return *descriptors_; }

 private:
  friend class Rulebook;
  const RuleSet* set_ = nullptr;
  std::uint64_t serial_ = 0;
  std::vector<Schema::Number> asked_;
  std::uint32_t number_ = 0;
  Schema schema_;
  RequestSources sources_;
  std::vector<CompiledRule> rules_;
  std::optional<MatchIndex> index_;
  ClassScheme classes_;
  std::optional<DescriptorTree> descriptors_;
};

class Rulebook {
 public:
  // REQUIRES: the sets come from a reader, which has checked them. What only shows when they are
  // put together, such as a namespace that is there twice, is a problem.
  static std::unique_ptr<const Rulebook> Compile(std::vector<RuleSet> sets, Problems& problems);

  // Null: there are no rules for it.
  [[nodiscard]] const Space* Find(std::string_view space) const;
  [[nodiscard]] std::span<const RuleSet> sets() const { return sets_; }
  // All namespaces, by name.
  [[nodiscard]] const std::map<std::string, Space, std::less<>>& spaces() const { return spaces_; }
  [[nodiscard]] std::uint32_t rule_count() const { return rule_count_; }
  // All limits of all rules, each once.
  [[nodiscard]] std::span<const Limit> limits() const { return limits_; }

 private:
  class Compiler;
  Rulebook() = default;

  std::vector<RuleSet> sets_;
  std::vector<Limit> limits_;
  std::map<std::string, Space, std::less<>> spaces_;
  std::uint32_t rule_count_ = 0;
};

}  // namespace weir::rule
