#include "rule/glob_tree.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "rule/pattern.h"

namespace weir::rule {
namespace {

using Reach = Wildcard::Reach;

std::size_t EndOfSegment(std::string_view value, std::size_t at) {
  return std::min(value.find('/', at), value.size());
}

// May the rest of a glob be tried as a whole at each place it is reached? If it may go far, only
// where it begins with `**`: then it is tried once.
bool IsCheapAlone(const GlobParts& parts, std::size_t from) {
  constexpr std::size_t kMostWildcards = 3;
  if (parts.wildcards.size() - from > kMostWildcards) return false;
  if (parts.wildcards[from].reach == Reach::kAnything) return true;
  for (std::size_t i = from + 1; i < parts.wildcards.size(); ++i) {
    const bool at_the_end = i + 1 == parts.wildcards.size() && parts.literals.back().empty();
    const Reach reach = parts.wildcards[i].reach;
    if (reach == Reach::kAnything && !at_the_end) return false;
    if (reach == Reach::kSegment && parts.wildcards[from].reach == Reach::kExactly) return false;
  }
  return true;
}

}  // namespace

// One value on its way through the tree. All arrivals at a node are looked at together, in
// ascending order, so that each node is visited once, whatever the value.
class GlobTree::Search {
 public:
  Search(const GlobTree& tree, const LiteralTable& table, std::string_view value, Hits& hits)
      : tree_(tree), table_(table), value_(value), hits_(hits) {}

  void Run(LiteralTable::Packed nodes, std::size_t at) {
    table_.Unpack(nodes, [&](std::uint32_t node) {
      const Arrival arrival = {node, at};
      VisitNode({&arrival, 1});
    });
  }

 private:
  struct Next {
    absl::InlinedVector<Arrival, 6> nodes;
    absl::InlinedVector<Lone, 4> lone;
  };

  // Where the literals that begin at `at` lead.
  void Follow(const LiteralTable::Set& literals, std::size_t at, Next& next) const {
    table_.ForEachPrefixOf(
        value_.substr(at), literals, [&](std::size_t length, const LiteralTable::Found& found) {
          if (!found.note.empty()) {
            next.lone.push_back({found.note.data(), at + length, found.note.size(), found.packed});
            return;
          }
          table_.Unpack(found.packed, [&](std::uint32_t node) {
            next.nodes.push_back({node, at + length});
          });
        });
  }

  void Visit(Next& next) {
    if (next.lone.size() > 1) std::sort(next.lone.begin(), next.lone.end());
    for (std::size_t i = 0; i < next.lone.size();) i = TryLone(next.lone, i);
    if (next.nodes.size() > 1) std::sort(next.nodes.begin(), next.nodes.end());
    for (std::size_t begin = 0; begin < next.nodes.size();) {
      std::size_t end = begin;
      while (end < next.nodes.size() && next.nodes[end].node == next.nodes[begin].node) ++end;
      VisitNode(std::span(next.nodes).subspan(begin, end - begin));
      begin = end;
    }
  }

  // Tries one, and returns the first after it that can find something else.
  std::size_t TryLone(std::span<const Lone> lone, std::size_t i) {
    const Lone& one = lone[i];
    const std::string_view rest(one.rest, one.rest_length);
    const bool matches = GlobMatches(rest, value_.substr(one.at));
    if (matches) table_.Append(one.globs, hits_);
    std::size_t reached = one.at;
    if (matches || rest.starts_with("**")) {
      reached = value_.size();
    } else if (rest.starts_with('*')) {
      reached = EndOfSegment(value_, one.at);
    }
    do {
      ++i;
    } while (i < lone.size() && lone[i].rest == one.rest && lone[i].at <= reached);
    return i;
  }

  void VisitNode(std::span<const Arrival> arrivals) {
    const Node& node = tree_.nodes_[arrivals.front().node];
    const auto [reach, least] = node.wildcard;
    Next next;
    std::size_t covered = 0;  // what begins before it can reach nothing new
    for (const Arrival& arrival : arrivals) {
      if (arrival.at < covered) continue;
      // The places at which the wildcard may end.
      const std::size_t end =
          reach == Reach::kAnything ? value_.size() : EndOfSegment(value_, arrival.at);
      const std::size_t first = arrival.at + least;
      if (first > end) continue;
      const std::size_t last = reach == Reach::kExactly ? first : end;
      covered = reach == Reach::kExactly ? arrival.at + 1 : end + 1;

      if (last == value_.size()) table_.Append(node.end, hits_);
      table_.ForEachSuffixOf(value_.substr(first), value_.size() - last, node.tails,
                             [&](std::size_t, const LiteralTable::Found& found) {
                               table_.Append(found.packed, hits_);
                             });
      if (node.inners.empty()) continue;
      for (std::size_t at = first; at <= last; ++at) {
        if (node.inners.MayBegin(value_.substr(at))) Follow(node.inners, at, next);
      }
    }
    Visit(next);
  }

  const GlobTree& tree_;
  const LiteralTable& table_;
  std::string_view value_;
  Hits& hits_;
};

void GlobTree::Find(std::uint32_t head, std::size_t at, const LiteralTable& table,
                    std::string_view value, Hits& hits) const {
  const Head& from = heads_[head];
  if (from.globs != LiteralTable::kNothing) {
    if (from.rest.Matches(value.substr(at))) table.Append(from.globs, hits);
  } else {
    Search(*this, table, value, hits).Run(from.nodes, at);
  }
}

void GlobTree::Builder::Add(const GlobParts& parts, std::uint32_t number) {
  WEIR_CHECK(!parts.wildcards.empty());
  std::uint32_t draft = 0;
  for (std::size_t i = 0; i < parts.wildcards.size(); ++i) {
    draft = DraftAfter(draft, parts.literals[i], parts.wildcards[i],
                       IsCheapAlone(parts, i) ? parts.TextFrom(i) : "");
  }
  const std::string& tail = parts.literals.back();
  (tail.empty() ? drafts_[draft].end : drafts_[draft].tails[tail]).push_back(number);
}

std::uint32_t GlobTree::Builder::DraftAfter(std::uint32_t draft, const std::string& literal,
                                            Wildcard wildcard, const std::string& rest) {
  const auto next = static_cast<std::uint32_t>(drafts_.size());
  const auto [place, is_new] = drafts_[draft].inners[literal].try_emplace(wildcard, next);
  const std::uint32_t after = place->second;
  if (is_new) {
    drafts_.push_back({.wildcard = wildcard, .end = {}, .tails = {}, .inners = {}, .rest = rest});
  } else if (drafts_[after].rest != rest) {
    drafts_[after].rest.clear();
  }
  return after;
}

std::vector<std::string> GlobTree::Builder::AddLiterals() {
  std::vector<std::string> heads;
  for (const auto& [literal, by_wildcard] : drafts_.front().inners) {
    heads.push_back(literal);
    AddHead(literal, by_wildcard);
  }
  for (std::size_t i = 1; i < drafts_.size(); ++i) {
    Draft& draft = drafts_[i];
    draft.tail_set = literals_.NewSet();
    draft.inner_set = literals_.NewSet();
    draft.packed_end = literals_.Pack(draft.end);
    for (const auto& [tail, numbers] : draft.tails) {
      for (const std::uint32_t number : numbers) literals_.Add(draft.tail_set, tail, number);
    }
    AddInners(draft);
  }
  return heads;
}

bool GlobTree::Builder::IsLone(const std::string& literal,
                               const std::map<Wildcard, std::uint32_t>& by_wildcard) const {
  return by_wildcard.size() == 1 && !literal.empty() &&
         !drafts_[by_wildcard.begin()->second].rest.empty();
}

void GlobTree::Builder::AddHead(const std::string& literal,
                                const std::map<Wildcard, std::uint32_t>& by_wildcard) {
  Head head;
  if (IsLone(literal, by_wildcard)) {
    const std::uint32_t only = by_wildcard.begin()->second;
    head.rest = GlobRest(drafts_[only].rest);
    head.globs = literals_.Pack(AllBelow(only));
  } else {
    Numbers nodes;
    for (const auto& [wildcard, node] : by_wildcard) nodes.push_back(node);
    head.nodes = literals_.Pack(nodes);
  }
  heads_.push_back(std::move(head));
}

void GlobTree::Builder::AddInners(const Draft& draft) {
  for (const auto& [literal, by_wildcard] : draft.inners) {
    if (IsLone(literal, by_wildcard)) {
      const std::uint32_t only = by_wildcard.begin()->second;
      for (const std::uint32_t number : AllBelow(only)) {
        literals_.Add(draft.inner_set, literal, number, drafts_[only].rest);
      }
      continue;
    }
    for (const auto& [wildcard, node] : by_wildcard) {
      literals_.Add(draft.inner_set, literal, node);
    }
  }
}

GlobTree::Builder::Numbers GlobTree::Builder::AllBelow(std::uint32_t draft) const {
  Numbers all = drafts_[draft].end;
  for (const auto& [tail, numbers] : drafts_[draft].tails) {
    all.insert(all.end(), numbers.begin(), numbers.end());
  }
  for (const auto& [literal, by_wildcard] : drafts_[draft].inners) {
    for (const auto& [wildcard, next] : by_wildcard) {
      const Numbers below = AllBelow(next);
      all.insert(all.end(), below.begin(), below.end());
    }
  }
  return all;
}

GlobTree GlobTree::Builder::Build(const LiteralTable& table) && {
  GlobTree tree;
  tree.heads_ = std::move(heads_);
  for (const Draft& draft : drafts_) {
    tree.nodes_.push_back(
        {draft.wildcard, draft.packed_end, table.set(draft.tail_set), table.set(draft.inner_set)});
  }
  return tree;
}

}  // namespace weir::rule
