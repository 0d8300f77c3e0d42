#include "rule/explain.h"

#include <algorithm>
#include <optional>

#include "rule/descriptor_tree.h"
#include "rule/pattern.h"
#include "rule/utf8.h"

namespace weir::rule {
namespace {

// Null data if the request does not have it.
std::string_view Find(std::span<const Attribute> attributes, std::string_view name) {
  for (const Attribute& attribute : attributes) {
    if (attribute.name != name) continue;
    return attribute.value.data() != nullptr ? attribute.value.substr(0, Values::kLongest) : "";
  }
  return {};
}

bool Holds(const Condition& condition, std::string_view value) {
  const bool any = std::any_of(condition.any_of.begin(), condition.any_of.end(),
                               [value](const Pattern& p) { return Matches(p, value); });
  return any != condition.negated;
}

std::string Describe(const Pattern& pattern) {
  switch (pattern.kind) {
    case PatternKind::kExact:
      return "'" + Shown(pattern.text) + "'";
    case PatternKind::kPrefix:
      return "what begins with '" + Shown(pattern.text) + "'";
    case PatternKind::kGlob:
      return "like '" + Shown(pattern.text) + "'";
    case PatternKind::kRegex:
      return "what matches '" + Shown(pattern.text) + "'";
    case PatternKind::kCidr:
      return "in " + Shown(pattern.text);
    case PatternKind::kPresent:
      return "present";
  }
  return {};
}

std::string ValueText(std::string_view name, std::string_view value) {
  return std::string(name) +
         (value.data() == nullptr ? " is absent" : " is '" + Shown(value) + "'");
}

// What keeps the match from holding; nothing if it holds.
std::optional<std::string> WhyNot(const Match& match, std::span<const Attribute> attributes) {
  for (const Condition& condition : match) {
    const std::string_view value = Find(attributes, condition.attribute);
    if (Holds(condition, value)) continue;
    return ValueText(condition.attribute, value) + ", and must be " + rule::Describe(condition);
  }
  return std::nullopt;
}

std::string AllowanceText(const Allowance& allowance) {
  if (std::holds_alternative<Unlimited>(allowance)) return "unlimited";
  if (std::holds_alternative<Blocked>(allowance)) return "blocked";
  return std::get<Limit>(allowance).ToString();
}

// The key a request forms, or the attribute that it lacks.
struct FormedKey {
  std::string text;
  std::string missing;
};

FormedKey Form(const Key& key, std::span<const Attribute> attributes,
               const std::optional<AddressBits>& bits) {
  FormedKey formed;
  for (const KeyPart& part : key) {
    const std::string_view value = Find(attributes, part.attribute);
    std::string text = Shown(value);
    if (part.attribute == kIp) {
      const std::optional<Address> ip = Address::Parse(value);
      if (!ip) return {"", part.attribute};
      const AddressBits used = bits.value_or(part.bits);
      text = Network(*ip, ip->is_v4() ? used.v4 : used.v6).ToString();
    }
    if (value.data() == nullptr) return {"", part.attribute};
    formed.text += (formed.text.empty() ? "" : " ") + part.attribute + "=" + text;
  }
  if (key.empty()) formed.text = "all requests";
  return formed;
}

void AddKeys(const Rule& rule, std::span<const Attribute> attributes, std::chrono::sys_seconds now,
             Explanation& explanation) {
  const Override* other = nullptr;
  for (const Override& candidate : rule.overrides) {
    if (candidate.until && now >= *candidate.until) continue;
    if (WhyNot(candidate.when, attributes)) continue;
    other = &candidate;
    break;
  }
  const Allowance& allowance = other != nullptr ? other->allowance : rule.allowance;
  const std::string source = other != nullptr ? " (override)" : "";
  std::string missing;
  for (const Key& key : rule.keys) {
    const FormedKey formed = Form(key, attributes, std::nullopt);
    if (!formed.missing.empty()) {
      missing = formed.missing;
      continue;
    }
    explanation.keys.push_back({formed.text, AllowanceText(allowance) + source});
    if (other != nullptr) continue;
    for (const Tier& tier : rule.tiers) {
      const bool by_address =
          std::any_of(key.begin(), key.end(), [](const KeyPart& p) { return p.attribute == kIp; });
      if (!by_address) continue;
      explanation.keys.push_back(
          {Form(key, attributes, tier.bits).text, AllowanceText(tier.allowance) + " (tier)"});
    }
  }
  if (!explanation.keys.empty() || missing.empty()) return;
  explanation.applies = false;
  explanation.why = "there is no " + missing + " to count by";
}

Explanation ExplainRule(const Rule& rule, std::span<const Attribute> attributes,
                        std::chrono::sys_seconds now) {
  Explanation explanation{&rule, false, "", {}};
  if (rule.mode == Mode::kOff) {
    explanation.why = "it is off";
  } else if (rule.expires && now >= *rule.expires) {
    explanation.why = "it has expired";
  } else if (const auto why_not = WhyNot(rule.match, attributes)) {
    explanation.why = *why_not;
  } else {
    explanation.applies = true;
    explanation.why = rule.match.empty() ? "it matches every request" : "all conditions hold";
    if (!rule.allow) AddKeys(rule, attributes, now, explanation);
  }
  return explanation;
}

std::string WhyNotFound(DescriptorMatch::Kind found) {
  switch (found) {
    case DescriptorMatch::Kind::kNothing:
      return "no descriptor is like this request";
    case DescriptorMatch::Kind::kNoLimit:
      return "what is found for this request has no limit";
    default:
      return "another descriptor is found first";
  }
}

// The one rule that the request's descriptor finds gets its key; the others are told why not.
void ExplainDescriptor(const RuleSet& set, std::span<const Attribute> attributes,
                       std::vector<Explanation>& explanations) {
  std::vector<RequestEntry> entries;
  for (const Attribute& attribute : attributes)
    entries.push_back({attribute.name, attribute.value});
  std::vector<std::string_view> key;
  const DescriptorTree tree(set.rules);
  const DescriptorMatch match = tree.Find(entries, key);
  for (std::size_t i = 0; i < set.rules.size(); ++i) {
    const Rule& rule = set.rules[i];
    if (!rule.descriptor) continue;
    Explanation& explanation = explanations[i];
    if (!explanation.applies) continue;  // off, or expired
    explanation.applies = match.kind == DescriptorMatch::Kind::kLimit && match.rule == i;
    if (!explanation.applies) {
      explanation.why = WhyNotFound(match.kind);
      explanation.keys.clear();
      continue;
    }
    explanation.why = "its descriptor is the one that is found";
    std::string text;
    for (const std::string_view value : key) {
      text += (text.empty() ? "" : " ") + ("'" + Shown(value) + "'");
    }
    explanation.keys = {{text, AllowanceText(rule.allowance)}};
  }
}

}  // namespace

std::string Describe(const Condition& condition) {
  std::string text;
  for (const Pattern& pattern : condition.any_of) {
    if (!text.empty()) text += condition.negated ? " nor " : " or ";
    text += Describe(pattern);
  }
  if (!condition.negated) return text;
  return (condition.any_of.size() > 1 ? "neither " : "not ") + text;
}

std::vector<Explanation> Explain(const RuleSet& set, std::span<const Attribute> attributes,
                                 std::chrono::sys_seconds now) {
  std::vector<Explanation> explanations;
  bool has_descriptors = false;
  for (const Rule& rule : set.rules) {
    explanations.push_back(ExplainRule(rule, attributes, now));
    has_descriptors |= rule.descriptor.has_value();
  }
  if (has_descriptors) ExplainDescriptor(set, attributes, explanations);
  return explanations;
}

}  // namespace weir::rule
