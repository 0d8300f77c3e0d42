#include "rule/match_index.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/check.h"
#include "rule/anchor.h"
#include "rule/compiled_condition.h"
#include "rule/pattern_index.h"

namespace weir::rule {
namespace {

// The number of a match, and whether there is more to it than what it was found by.
std::uint32_t Candidate(std::size_t match, bool has_more) {
  return static_cast<std::uint32_t>(match << 1) | (has_more ? 1 : 0);
}

// Conditions with equal text are equal.
std::string TextOf(const Condition& condition) {
  std::string text = (condition.negated ? "!" : "=") + condition.attribute;
  for (const Pattern& pattern : condition.any_of) {
    text += '\0' + std::to_string(static_cast<int>(pattern.kind)) +
            std::to_string(pattern.text.size()) + ":" + pattern.text;
  }
  return text;
}

}  // namespace

class MatchIndex::Impl {
 public:
  Impl(std::span<const Match* const> matches, Schema& schema);

  // What may hold: everything that does, and nothing whose anchor does not. Ascending, each once.
  void FindCandidates(const Values& values, Hits& candidates) const;

  [[nodiscard]] bool Holds(std::uint32_t candidate, const Values& values) const {
    if ((candidate & 1) == 0) return true;
    const std::uint32_t match = candidate >> 1;
    for (std::uint32_t i = rest_begin_[match]; i < rest_begin_[match + 1]; ++i) {
      if (!conditions_[rest_[i]].Holds(values)) return false;
    }
    return true;
  }

 private:
  struct Indexed {
    Schema::Number attribute;
    PatternIndex patterns;
  };

  std::uint32_t Intern(const Condition& condition, Schema::Number attribute);

  std::vector<Indexed> indexed_;
  std::vector<std::uint32_t> always_;  // candidates for every request
  // Match m asks for conditions rest_[rest_begin_[m]] to rest_[rest_begin_[m + 1]] besides its
  // anchor. Equal ones are kept once, and so stay in the cache.
  std::vector<std::uint32_t> rest_begin_ = {0};
  std::vector<std::uint32_t> rest_;
  std::vector<CompiledCondition> conditions_;
  absl::flat_hash_map<std::string, std::uint32_t> interned_;  // only while this is made
};

MatchIndex::Impl::Impl(std::span<const Match* const> matches, Schema& schema) {
  WEIR_CHECK(matches.size() < LiteralTable::kMostNumbers / 2);
  std::map<Schema::Number, std::vector<PatternIndex::Entry>> entries;
  const std::vector<Anchor> anchors = ChooseAnchors(matches);
  for (std::size_t m = 0; m < matches.size(); ++m) {
    const Match& match = *matches[m];
    const bool anchored = anchors[m].kind == Anchor::Kind::kCondition;
    const std::uint32_t candidate = Candidate(m, match.size() > (anchored ? 1 : 0));
    for (std::size_t c = 0; c < match.size(); ++c) {
      const auto attribute = schema.Add(match[c].attribute);
      WEIR_CHECK(attribute.has_value());
      if (anchored && c == anchors[m].condition) {
        for (const Pattern& pattern : match[c].any_of) {
          entries[*attribute].push_back({&pattern, candidate});
        }
      } else {
        rest_.push_back(Intern(match[c], *attribute));
      }
    }
    rest_begin_.push_back(static_cast<std::uint32_t>(rest_.size()));
    if (anchors[m].kind == Anchor::Kind::kNone) always_.push_back(candidate);
  }
  for (const auto& [attribute, patterns] : entries) {
    indexed_.push_back({attribute, PatternIndex(patterns)});
  }
  interned_ = {};
}

std::uint32_t MatchIndex::Impl::Intern(const Condition& condition, Schema::Number attribute) {
  const auto next = static_cast<std::uint32_t>(conditions_.size());
  const auto [place, is_new] = interned_.try_emplace(TextOf(condition), next);
  if (is_new) conditions_.emplace_back(condition, attribute);
  return place->second;
}

void MatchIndex::Impl::FindCandidates(const Values& values, Hits& candidates) const {
  candidates.assign(always_.begin(), always_.end());
  for (const auto& [attribute, patterns] : indexed_) {
    if (!values.Has(attribute)) continue;
    if (attribute == Schema::kIpNumber) {
      patterns.Find(values[attribute], values.ip(), candidates);
    } else {
      patterns.Find(values[attribute], candidates);
    }
  }
  if (candidates.size() < 2) return;
  std::sort(candidates.begin(), candidates.end());
  candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
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

std::optional<std::uint32_t> MatchIndex::First(const Values& values) const {
  Hits candidates;
  impl_->FindCandidates(values, candidates);
  for (const std::uint32_t candidate : candidates) {
    if (impl_->Holds(candidate, values)) return candidate >> 1;
  }
  return std::nullopt;
}

}  // namespace weir::rule
