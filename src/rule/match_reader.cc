#include "rule/match_reader.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_set>

#include "rule/address.h"
#include "rule/attribute.h"
#include "rule/attribute_name.h"
#include "rule/closest.h"
#include "rule/field_reader.h"
#include "rule/pattern.h"
#include "rule/utf8.h"

namespace weir::rule {
namespace {

constexpr std::array<std::string_view, 7> kKinds = {"exact", "prefix",  "glob", "regex",
                                                    "cidr",  "present", "not"};
constexpr std::array<PatternKind, 5> kKindOf = {PatternKind::kExact, PatternKind::kPrefix,
                                                PatternKind::kGlob, PatternKind::kRegex,
                                                PatternKind::kCidr};
constexpr std::size_t kPresentWord = 5;
constexpr std::size_t kNotWord = 6;

// A condition while it is read: the patterns of one attribute.
class ConditionReader {
 public:
  ConditionReader(std::string attribute, Report& report)
      : condition_{std::move(attribute), {}, false}, report_(report) {}

  Condition Read(const YamlNode& node) {
    if (node.kind != YamlNode::Kind::kMap) {
      Patterns(node, std::nullopt);
    } else if (const auto kind = KindOf(node)) {
      const YamlNode& value = node.map[0].value;
      if (*kind == kPresentWord) {
        Present(value);
      } else if (*kind == kNotWord) {
        Not(value);
      } else {
        Patterns(value, kKindOf[*kind]);
      }
    }
    return std::move(condition_);
  }

 private:
  // The one word of a map such as {prefix: /api/}; nothing, and reported, if it is none.
  std::optional<std::size_t> KindOf(const YamlNode& node) {
    if (report_.full()) return std::nullopt;
    if (node.map.size() != 1) {
      report_.Add(node.place,
                  Name() + ": a pattern is of one kind, got " + std::to_string(node.map.size()),
                  "write a list of them: [{prefix: /a}, {glob: b*}]");
      return std::nullopt;
    }
    const YamlNode::Entry& entry = node.map[0];
    const auto found = std::find(kKinds.begin(), kKinds.end(), entry.key);
    if (found != kKinds.end()) return static_cast<std::size_t>(found - kKinds.begin());
    report_.Add(entry.place, Name() + ": unknown kind of pattern '" + Shown(entry.key) + "'",
                Suggest(entry.key, kKinds));
    return std::nullopt;
  }

  void Present(const YamlNode& node) {
    bool present = true;
    if (!ReadFlag(node, "present", present, report_)) return;
    condition_.any_of.push_back({PatternKind::kPresent, ""});
    if (!present) condition_.negated = !condition_.negated;
  }

  void Not(const YamlNode& node) {
    condition_.negated = true;
    if (node.kind != YamlNode::Kind::kMap) {
      Patterns(node, std::nullopt);
    } else if (const auto kind = KindOf(node)) {
      if (*kind == kNotWord) {
        report_.Add(node.place, Name() + ": not of not", "leave both out");
      } else if (*kind == kPresentWord) {
        Present(node.map[0].value);
      } else {
        Patterns(node.map[0].value, kKindOf[*kind]);
      }
    }
  }

  // One pattern or a list of them. Without a kind they are written as people think of them, and in
  // a list each may name its own.
  void Patterns(const YamlNode& node, std::optional<PatternKind> kind) {
    if (node.kind != YamlNode::Kind::kList) return One(node, kind);
    if (!IsList(node, Name(), "patterns", kMostPatterns, "[a, b]", report_)) return;
    for (const YamlNode& element : node.list) {
      if (kind || element.kind != YamlNode::Kind::kMap) {
        One(element, kind);
      } else if (const auto own = KindOf(element)) {
        if (*own == kPresentWord || *own == kNotWord) {
          report_.Add(element.place,
                      Name() + ": '" + std::string(kKinds[*own]) + "' cannot be one of a list",
                      "let it stand alone");
        } else {
          Patterns(element.map[0].value, kKindOf[*own]);
        }
      }
    }
  }

  void One(const YamlNode& node, std::optional<PatternKind> kind) {
    if (node.kind == YamlNode::Kind::kNull) {
      report_.Add(node.place, Name() + ": there is no pattern",
                  "write {present: true} if any value will do, or the word in quotes");
      return;
    }
    if (node.kind != YamlNode::Kind::kScalar) {
      report_.Add(node.place, Name() + ": a pattern must be text, got " + node.Describe());
      return;
    }
    const Pattern pattern{kind.value_or(KindByLooks(node.scalar)), node.scalar};
    if (const auto wrong = WhatIsWrong(pattern)) {
      report_.Add(node.place, Name() + ": " + wrong->message);
    } else if (!LooksLikeAMistake(pattern, node.place)) {
      condition_.any_of.push_back(pattern);
    }
  }

  [[nodiscard]] PatternKind KindByLooks(std::string_view text) const {
    if (text.find_first_of("*?") != std::string_view::npos) return PatternKind::kGlob;
    return condition_.attribute == kIp ? PatternKind::kCidr : PatternKind::kExact;
  }

  // Patterns that mean something, but nothing that a request ever holds.
  bool LooksLikeAMistake(const Pattern& pattern, Place place) {
    const bool text = pattern.kind == PatternKind::kExact || pattern.kind == PatternKind::kPrefix ||
                      pattern.kind == PatternKind::kGlob;
    if (condition_.attribute == "path" && text && !pattern.text.empty() &&
        std::string_view("/*?").find(pattern.text[0]) == std::string_view::npos) {
      report_.Add(place, "path: '" + Shown(pattern.text) + "' matches nothing: paths begin with /",
                  "write /" + Shown(pattern.text));
      return true;
    }
    constexpr std::array<std::string_view, 9> kMethods = {
        "GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"};
    std::string upper = pattern.text;
    for (char& c : upper) {
      if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    }
    if (condition_.attribute == "method" && pattern.kind == PatternKind::kExact &&
        upper != pattern.text && std::count(kMethods.begin(), kMethods.end(), upper) > 0) {
      report_.Add(place,
                  "method: '" + pattern.text + "' matches nothing: methods are in upper case",
                  "write " + upper);
      return true;
    }
    return false;
  }

  [[nodiscard]] std::string Name() const { return condition_.attribute; }

  Condition condition_;
  Report& report_;
};

void Add(const std::string& attribute, const YamlNode::Entry& entry,
         std::unordered_set<std::string>& seen, Match& match, Report& report) {
  if (!CheckAttributeName(attribute, entry.place, report)) return;
  if (!seen.insert(attribute).second) {
    report.Add(entry.place, "attribute '" + attribute + "' is given twice",
               "write its patterns as one list");
    return;
  }
  Condition condition = ConditionReader(attribute, report).Read(entry.value);
  if (!condition.any_of.empty()) match.push_back(std::move(condition));
}

}  // namespace

Match ReadMatch(const YamlNode& node, std::string_view name, Report& report) {
  Match match;
  if (!IsMap(node, name, std::string(name) + ": {path: /login}", report)) return match;
  if (node.map.empty()) {
    report.Add(node.place, std::string(name) + " is empty",
               "leave it out, or name an attribute: {path: /login}");
  }
  std::unordered_set<std::string> seen;
  for (const YamlNode::Entry& entry : node.map) {
    if (!IsFamily(entry.key) || entry.value.kind != YamlNode::Kind::kMap) {
      Add(entry.key, entry, seen, match, report);
      continue;
    }
    if (entry.value.map.empty()) report.Add(entry.value.place, entry.key + " is empty");
    for (const YamlNode::Entry& inner : entry.value.map) {
      Add(entry.key + "." + inner.key, inner, seen, match, report);
    }
  }
  return match;
}

}  // namespace weir::rule
