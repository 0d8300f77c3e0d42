#include "rule/match_writer.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "rule/attribute.h"
#include "rule/yaml_writer.h"

namespace weir::rule {
namespace {

constexpr std::array<std::string_view, 6> kKinds = {"exact", "prefix", "glob",
                                                    "regex", "cidr",   "present"};

// Whether the text alone says which kind of pattern it is.
bool SpeaksForItself(const Pattern& pattern, const std::string& attribute) {
  const bool stars = pattern.text.find_first_of("*?") != std::string::npos;
  if (pattern.kind == PatternKind::kGlob) return stars;
  const PatternKind plain = attribute == kIp ? PatternKind::kCidr : PatternKind::kExact;
  return pattern.kind == plain && !stars;
}

std::string OfKind(PatternKind kind, const std::string& value) {
  return FlowMap().Add(kKinds[static_cast<std::size_t>(kind)], value).text();
}

std::string WritePatterns(const std::vector<Pattern>& patterns, const std::string& attribute) {
  const PatternKind kind = patterns[0].kind;
  const bool all_plain = std::all_of(patterns.begin(), patterns.end(), [&](const Pattern& p) {
    return SpeaksForItself(p, attribute);
  });
  const bool one_kind = !all_plain && std::all_of(patterns.begin(), patterns.end(),
                                                  [&](const Pattern& p) { return p.kind == kind; });
  std::vector<std::string> texts;
  for (const Pattern& pattern : patterns) {
    const std::string text = YamlScalar(pattern.text);
    const bool bare = one_kind || SpeaksForItself(pattern, attribute);
    texts.push_back(bare ? text : OfKind(pattern.kind, text));
  }
  const std::string list = texts.size() == 1 ? texts[0] : FlowList(texts);
  return one_kind ? OfKind(kind, list) : list;
}

std::string WriteCondition(const Condition& condition) {
  if (condition.any_of[0].kind == PatternKind::kPresent) {
    return OfKind(PatternKind::kPresent, condition.negated ? "false" : "true");
  }
  const std::string patterns = WritePatterns(condition.any_of, condition.attribute);
  return condition.negated ? FlowMap().Add("not", patterns).text() : patterns;
}

std::string WriteKey(const Key& key) {
  std::vector<std::string> parts;
  for (const KeyPart& part : key) {
    if (part.bits == AddressBits{}) {
      parts.push_back(YamlScalar(part.attribute));
      continue;
    }
    FlowMap bits;
    if (part.bits.v4 != AddressBits{}.v4) bits.Add("v4", std::to_string(part.bits.v4));
    if (part.bits.v6 != AddressBits{}.v6) bits.Add("v6", std::to_string(part.bits.v6));
    parts.push_back(FlowMap().Add(kIp, bits.text()).text());
  }
  return FlowList(parts);
}

}  // namespace

std::string WriteMatch(const Match& match) {
  FlowMap map;
  for (const Condition& condition : match) {
    map.Add(YamlScalar(condition.attribute), WriteCondition(condition));
  }
  return map.text();
}

std::string WriteKeys(const std::vector<Key>& keys) {
  if (keys.size() == 1 && !keys[0].empty()) return WriteKey(keys[0]);
  std::vector<std::string> lists;
  lists.reserve(keys.size());
  for (const Key& key : keys) lists.push_back(WriteKey(key));
  return FlowList(lists);
}

}  // namespace weir::rule
