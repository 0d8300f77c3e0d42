#include "rule/anchor.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <string_view>
#include <tuple>

#include "rule/address.h"

namespace weir::rule {
namespace {

// How much likelier a pattern is to match than an exact value: rough, but what is almost always
// true must never be preferred to anything else.
constexpr double kNarrow = 2;
constexpr double kWide = 16;
constexpr double kAlmostAlways = 1e9;

double Width(const Pattern& pattern) {
  const std::string& text = pattern.text;
  switch (pattern.kind) {
    case PatternKind::kExact:
      return 1;
    case PatternKind::kPrefix:
    case PatternKind::kGlob: {
      const auto literal =
          std::count_if(text.begin(), text.end(), [](char c) { return c != '*' && c != '?'; });
      return literal >= 4 ? kNarrow : literal >= 2 ? kWide : kAlmostAlways;
    }
    case PatternKind::kRegex:
      return kWide;
    case PatternKind::kCidr: {
      const Network network = Network::Parse(text).value();
      const unsigned bits = network.bits() - (network.address().is_v4() ? 96 : 0);
      return bits >= 16 ? kNarrow : bits >= 4 ? kWide : kAlmostAlways;
    }
    case PatternKind::kPresent:
      break;
  }
  return kAlmostAlways;
}

// How often each pattern is asked for, and how many different ones each attribute has.
class Census {
 public:
  explicit Census(std::span<const Match* const> matches) {
    for (const Match* match : matches) {
      for (const Condition& condition : *match) {
        if (!condition.negated) Count(condition);
      }
    }
  }

  // Less is better: matches found in vain. Of an attribute that rules know many values of, each is
  // rare; where they know four, every fourth request may have the one.
  [[nodiscard]] double CostOf(const Condition& condition) const {
    double cost = 0;
    for (const Pattern& pattern : condition.any_of) {
      cost += times_.at(KeyOf(condition, pattern)) * Width(pattern);
    }
    return cost / different_.at(condition.attribute);
  }

 private:
  using Key = std::tuple<std::string_view, PatternKind, std::string_view>;

  static Key KeyOf(const Condition& condition, const Pattern& pattern) {
    return {condition.attribute, pattern.kind, pattern.text};
  }
  void Count(const Condition& condition) {
    double& different = different_[condition.attribute];
    for (const Pattern& pattern : condition.any_of) {
      if (++times_[KeyOf(condition, pattern)] == 1) ++different;
    }
  }

  absl::flat_hash_map<Key, double> times_;
  absl::flat_hash_map<std::string_view, double> different_;
};

Anchor ChooseAnchor(const Match& match, const Census& census) {
  Anchor anchor;
  double least = 0;
  for (std::size_t i = 0; i < match.size(); ++i) {
    if (match[i].negated) continue;
    if (match[i].any_of.empty()) return {Anchor::Kind::kNever, i};
    const double cost = census.CostOf(match[i]);
    if (anchor.kind == Anchor::Kind::kNone || cost < least) {
      anchor = {Anchor::Kind::kCondition, i};
      least = cost;
    }
  }
  return anchor;
}

}  // namespace

std::vector<Anchor> ChooseAnchors(std::span<const Match* const> matches) {
  const Census census(matches);
  std::vector<Anchor> anchors;
  anchors.reserve(matches.size());
  for (const Match* match : matches) anchors.push_back(ChooseAnchor(*match, census));
  return anchors;
}

}  // namespace weir::rule
