#include "rule/glob_tree.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"

namespace weir::rule {
namespace {

using Reach = Wildcard::Reach;

// One wildcard that means both, if there is one.
std::optional<Wildcard> Merged(Wildcard a, Wildcard b) {
  if (a.reach != Reach::kAnything && b.reach != Reach::kAnything) {
    return Wildcard{std::max(a.reach, b.reach), a.least + b.least};
  }
  const auto adds_nothing = [](Wildcard w) { return w.reach != Reach::kExactly && w.least == 0; };
  if (adds_nothing(a) && adds_nothing(b)) return Wildcard{};
  return std::nullopt;
}

std::size_t EndOfSegment(std::string_view value, std::size_t at) {
  return std::min(value.find('/', at), value.size());
}

}  // namespace

GlobParts::GlobParts(std::string_view glob) {
  while (!glob.empty()) {
    std::size_t taken = 1;
    std::optional<Wildcard> wildcard;
    if (glob.starts_with("**")) {
      wildcard = Wildcard{Reach::kAnything, 0};
      taken = 2;
    } else if (glob.front() == '*') {
      wildcard = Wildcard{Reach::kSegment, 0};
    } else if (glob.front() == '?') {
      wildcard = Wildcard{Reach::kExactly, 1};
    } else {
      literals.back() += glob.front();
    }
    glob.remove_prefix(taken);
    if (!wildcard) continue;
    const bool adjacent = !wildcards.empty() && literals.back().empty();
    const auto merged = adjacent ? Merged(wildcards.back(), *wildcard) : std::nullopt;
    if (merged) {
      wildcards.back() = *merged;
    } else {
      wildcards.push_back(*wildcard);
      literals.emplace_back();
    }
  }
}

void GlobTree::Find(const LiteralTable& table, std::string_view value, Hits& hits) const {
  table.ForEachPrefixOf(value, heads_, [&](std::size_t length, LiteralTable::Packed nodes) {
    table.Unpack(nodes, [&](std::uint32_t node) {
      const Arrival arrival{node, length};
      Visit(table, value, {&arrival, 1}, hits);
    });
  });
}

void GlobTree::Visit(const LiteralTable& table, std::string_view value,
                     std::span<const Arrival> arrivals, Hits& hits) const {
  const Node& node = nodes_[arrivals.front().node];
  const auto [reach, least] = node.wildcard;
  absl::InlinedVector<Arrival, 8> next;
  std::size_t covered = 0;  // what begins before it can reach nothing new
  for (const Arrival& arrival : arrivals) {
    if (arrival.at < covered) continue;
    // The places at which the wildcard may end.
    const std::size_t end =
        reach == Reach::kAnything ? value.size() : EndOfSegment(value, arrival.at);
    const std::size_t first = arrival.at + least;
    if (first > end) continue;
    const std::size_t last = reach == Reach::kExactly ? first : end;
    covered = reach == Reach::kExactly ? arrival.at + 1 : end + 1;

    if (last == value.size()) table.Append(node.end, hits);
    table.ForEachSuffixOf(
        value.substr(first), value.size() - last, node.tails,
        [&](std::size_t, LiteralTable::Packed globs) { table.Append(globs, hits); });
    if (node.inners.empty()) continue;
    for (std::size_t at = first; at <= last; ++at) {
      const std::string_view rest = value.substr(at);
      if (!node.inners.MayBegin(rest)) continue;
      table.ForEachPrefixOf(rest, node.inners, [&](std::size_t length, LiteralTable::Packed to) {
        table.Unpack(to, [&](std::uint32_t child) { next.push_back({child, at + length}); });
      });
    }
  }
  std::sort(next.begin(), next.end());
  for (std::size_t begin = 0; begin < next.size();) {
    std::size_t end = begin;
    while (end < next.size() && next[end].node == next[begin].node) ++end;
    Visit(table, value, std::span(next).subspan(begin, end - begin), hits);
    begin = end;
  }
}

void GlobTree::Builder::Add(const GlobParts& parts, std::uint32_t number) {
  WEIR_CHECK(!parts.wildcards.empty());
  LiteralTable::SetNumber set = heads_;
  std::uint32_t node = 0;
  for (std::size_t i = 0; i < parts.wildcards.size(); ++i) {
    node = NodeAfter(set, parts.literals[i], parts.wildcards[i]);
    set = drafts_[node].inners;
  }
  if (parts.literals.back().empty()) {
    drafts_[node].end.push_back(number);
  } else {
    literals_.Add(drafts_[node].tails, parts.literals.back(), number);
  }
}

std::uint32_t GlobTree::Builder::NodeAfter(LiteralTable::SetNumber set, const std::string& literal,
                                           Wildcard wildcard) {
  const auto node = static_cast<std::uint32_t>(drafts_.size());
  const auto [place, is_new] =
      edges_.try_emplace(Edge{set, literal, wildcard.reach, wildcard.least}, node);
  if (is_new) {
    literals_.Add(set, literal, node);
    const LiteralTable::SetNumber tails = literals_.NewSet();
    drafts_.push_back({wildcard, tails, literals_.NewSet(), {}});
  }
  return place->second;
}

void GlobTree::Builder::Pack() {
  for (Draft& draft : drafts_) draft.packed_end = literals_.Pack(draft.end);
}

GlobTree GlobTree::Builder::Build(const LiteralTable& table) && {
  GlobTree tree;
  tree.heads_ = table.set(heads_);
  for (const Draft& draft : drafts_) {
    tree.nodes_.push_back(
        {draft.wildcard, draft.packed_end, table.set(draft.tails), table.set(draft.inners)});
  }
  return tree;
}

}  // namespace weir::rule
