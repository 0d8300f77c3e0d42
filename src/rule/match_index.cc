#include "rule/match_index.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/check.h"
#include "rule/anchor.h"
#include "rule/pattern_index.h"
#include "rule/rest_conditions.h"

namespace weir::rule {
namespace {

// The number of a match, and whether there is more to it than what it was found by.
std::uint32_t Candidate(std::size_t match, bool has_more) {
  return static_cast<std::uint32_t>(match << 1) | (has_more ? 1 : 0);
}

// The conditions that are not anchors. Adds the attributes of all to the schema.
std::vector<std::vector<const Condition*>> RestsOf(std::span<const Match* const> matches,
                                                   std::span<const Anchor> anchors,
                                                   Schema& schema) {
  std::vector<std::vector<const Condition*>> rests(matches.size());
  for (std::size_t m = 0; m < matches.size(); ++m) {
    const bool anchored = anchors[m].kind == Anchor::Kind::kCondition;
    for (const Condition& condition : *matches[m]) {
      WEIR_CHECK(schema.Add(condition.attribute).has_value());
      const bool is_anchor = anchored && &condition == &(*matches[m])[anchors[m].condition];
      if (!is_anchor) rests[m].push_back(&condition);
    }
  }
  return rests;
}

// Ascending, each once. A request finds a handful, for which a sort of any number takes too long.
void Order(Hits& hits) {
  constexpr std::size_t kHandful = 12;
  std::uint32_t* const begin = hits.data();
  const std::size_t count = hits.size();
  if (count > kHandful) {
    std::sort(begin, begin + count);
  } else {
    for (std::size_t i = 1; i < count; ++i) {
      const std::uint32_t hit = begin[i];
      std::size_t place = i;
      for (; place > 0 && begin[place - 1] > hit; --place) begin[place] = begin[place - 1];
      begin[place] = hit;
    }
  }
  hits.resize(static_cast<std::size_t>(std::unique(begin, begin + count) - begin));
}

}  // namespace

class MatchIndex::Impl {
 public:
  Impl(std::span<const Match* const> matches, Schema& schema)
      : Impl(matches, ChooseAnchors(matches), schema) {}

  // What may hold: everything that does, and nothing whose anchor does not. Ascending, each once.
  // REQUIRES: there are none yet
  void FindCandidates(const Values& values, Hits& candidates) const;

  [[nodiscard]] bool Holds(std::uint32_t candidate, const Values& values) const {
    return (candidate & 1) == 0 || rests_.Hold(candidate >> 1, values);
  }

 private:
  struct Indexed {
    Schema::Number attribute;
    PatternIndex patterns;
  };

  Impl(std::span<const Match* const> matches, std::span<const Anchor> anchors, Schema& schema);

  RestConditions rests_;
  std::vector<Indexed> indexed_;
  std::vector<std::uint32_t> always_;  // candidates for every request
};

MatchIndex::Impl::Impl(std::span<const Match* const> matches, std::span<const Anchor> anchors,
                       Schema& schema)
    : rests_(RestsOf(matches, anchors, schema), schema) {
  WEIR_CHECK(matches.size() < LiteralTable::kMostNumbers / 2);
  std::map<Schema::Number, std::vector<PatternIndex::Entry>> entries;
  for (std::size_t m = 0; m < matches.size(); ++m) {
    const Match& match = *matches[m];
    if (anchors[m].kind == Anchor::Kind::kNone) always_.push_back(Candidate(m, !match.empty()));
    if (anchors[m].kind != Anchor::Kind::kCondition) continue;
    const Condition& anchor = match[anchors[m].condition];
    std::vector<PatternIndex::Entry>& found_by = entries[schema.Find(anchor.attribute).value()];
    for (const Pattern& pattern : anchor.any_of) {
      found_by.push_back({&pattern, Candidate(m, match.size() > 1)});
    }
  }
  for (const auto& [attribute, patterns] : entries) {
    indexed_.push_back({attribute, PatternIndex(patterns)});
  }
}

void MatchIndex::Impl::FindCandidates(const Values& values, Hits& candidates) const {
  if (!always_.empty()) candidates.assign(always_.begin(), always_.end());
  for (const auto& [attribute, patterns] : indexed_) {
    if (!values.Has(attribute)) continue;
    if (attribute == Schema::kIpNumber) {
      patterns.Find(values[attribute], values.ip(), candidates);
    } else {
      patterns.Find(values[attribute], candidates);
    }
  }
  if (candidates.size() > 1) Order(candidates);
}

MatchIndex::MatchIndex(std::span<const Match* const> matches, Schema& schema)
    : impl_(std::make_unique<const Impl>(matches, schema)) {}
MatchIndex::MatchIndex(MatchIndex&&) noexcept = default;
MatchIndex& MatchIndex::operator=(MatchIndex&&) noexcept = default;
MatchIndex::~MatchIndex() = default;

void MatchIndex::Find(const Values& values, std::vector<std::uint32_t>& found) const {
  Hits candidates;
  impl_->FindCandidates(values, candidates);
  for (const std::uint32_t candidate : candidates) {
    if (impl_->Holds(candidate, values)) found.push_back(candidate >> 1);
  }
}

std::optional<std::uint32_t> MatchIndex::First(
    const Values& values, const std::function<bool(std::uint32_t)>& accepts) const {
  Hits candidates;
  impl_->FindCandidates(values, candidates);
  for (const std::uint32_t candidate : candidates) {
    if (impl_->Holds(candidate, values) && accepts(candidate >> 1)) return candidate >> 1;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> MatchIndex::First(const Values& values) const {
  Hits candidates;
  impl_->FindCandidates(values, candidates);
  for (const std::uint32_t candidate : candidates) {
    if (impl_->Holds(candidate, values)) return candidate >> 1;
  }
  return std::nullopt;
}

}  // namespace weir::rule
