#include "rule/rule_file.h"

#include <array>
#include <unordered_map>

#include "rule/attribute.h"
#include "rule/field_reader.h"
#include "rule/rule_attributes.h"
#include "rule/rule_reader.h"

namespace weir::rule {
namespace {

constexpr std::array<std::string_view, 2> kFileFields = {"namespace", "rules"};

// What has to hold among the rules of a namespace: names are unique, attributes are few.
class Together {
 public:
  explicit Together(Report& report) : report_(report) {}

  void Add(const Rule& rule, const YamlNode& node) {
    const YamlNode* name = node.kind == YamlNode::Kind::kMap ? node.Find("name") : nullptr;
    if (name != nullptr && !rule.name.empty()) {
      const auto [first, is_new] = lines_.try_emplace(rule.name, name->place.line);
      if (!is_new) {
        report_.Add(name->place,
                    "the name is taken by the rule in line " + std::to_string(first->second),
                    "give this one another name");
      }
    }
    ForEachAttribute(rule, [&](const std::string& attribute) {
      if (full_ || schema_.Add(attribute)) return;
      full_ = true;
      report_.Add(node.place,
                  "attribute '" + attribute + "' is one more than the " +
                      std::to_string(Schema::kMost) + " that a namespace may speak of (with ip)",
                  "use fewer, or split the namespace");
    });
  }

 private:
  Report& report_;
  std::unordered_map<std::string, int> lines_;  // of the names so far
  Schema schema_;
  bool full_ = false;
};

void ReadFile(const YamlNode& root, RuleSet& set, Report& report) {
  if (!IsMap(root, "a file of rules", "namespace: NAME and rules: [...]", report)) return;
  const Fields fields(root, kFileFields, report);
  if (const YamlNode* space = fields.Find("namespace")) {
    ReadName(*space, "namespace", kSpacePunctuation, kLongestName, set.space, report);
  } else {
    report.Add(root.place, "the namespace is missing", "write namespace: NAME");
  }
  const YamlNode* rules = fields.Find("rules");
  if (rules == nullptr) {
    report.Add(root.place, "there are no rules", "write rules: [] if there are to be none");
    return;
  }
  const bool empty = rules->kind == YamlNode::Kind::kList && rules->list.empty();
  if (empty ||
      !IsList(*rules, "rules", "rules", kMostRules, "rules: [{name: ..., limit: ...}]", report)) {
    return;
  }
  Together together(report);
  for (const YamlNode& node : rules->list) {
    if (report.full()) return;
    set.rules.push_back(ReadRule(node, report));
    together.Add(set.rules.back(), node);
  }
}

}  // namespace

std::optional<RuleSet> ReadRules(std::string_view text, const std::string& file,
                                 Problems& problems) {
  YamlNode root;
  if (!ReadYaml(text, file, root, problems)) return std::nullopt;
  RuleSet set;
  Report report(file, problems);
  ReadFile(root, set, report);
  report.Sort();
  if (report.count() > 0) return std::nullopt;
  return set;
}

std::optional<Problem> WhatIsWrongWithSpace(std::string_view space, const std::string& file) {
  YamlNode name;
  name.kind = YamlNode::Kind::kScalar;
  name.scalar = space;
  Problems problems;
  Report report(file, problems);
  std::string ignored;
  if (ReadName(name, "namespace", kSpacePunctuation, kLongestName, ignored, report)) {
    return std::nullopt;
  }
  return std::move(problems.front());
}

std::optional<Rule> ReadRule(std::string_view text, const std::string& file, Problems& problems) {
  YamlNode root;
  if (!ReadYaml(text, file, root, problems)) return std::nullopt;
  Report report(file, problems);
  Rule rule = ReadRule(root, report);
  report.Sort();
  if (report.count() > 0) return std::nullopt;
  return rule;
}

}  // namespace weir::rule
