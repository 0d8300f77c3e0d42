#include "rule/pattern_trie.h"

#include <algorithm>
#include <string>

#include "rule/glob_parts.h"
#include "rule/regex.h"

namespace weir::rule {

PatternTrie::Node PatternTrie::NewNode() {
  nodes_.emplace_back();
  return static_cast<Node>(nodes_.size() - 1);
}

PatternTrie::Node PatternTrie::Through(Node from, std::string_view literal) {
  for (const char c : literal) {
    Node child = nodes_[from].first_child;
    while (child != kNone && nodes_[child].c != c) child = nodes_[child].sibling;
    if (child == kNone) {
      child = NewNode();
      nodes_[child].c = c;
      nodes_[child].sibling = nodes_[from].first_child;
      nodes_[from].first_child = child;
    }
    from = child;
  }
  return from;
}

PatternTrie::Node PatternTrie::Segment(Node from) {
  if (nodes_[from].segment == kNone) {
    const Node star = NewNode();
    nodes_[star].loop = Loop::kSegment;
    nodes_[from].segment = star;
  }
  return nodes_[from].segment;
}

PatternTrie::Node PatternTrie::Anything(Node from) {
  if (nodes_[from].anything == kNone) {
    const Node stars = NewNode();
    nodes_[stars].loop = Loop::kAnything;
    nodes_[from].anything = stars;
  }
  return nodes_[from].anything;
}

PatternTrie::Node PatternTrie::One(Node from) {
  if (nodes_[from].one == kNone) {
    const Node one = NewNode();
    nodes_[from].one = one;
  }
  return nodes_[from].one;
}

void PatternTrie::Find(Node at) {
  if (nodes_[at].found == 0) {
    nodes_[at].found = static_cast<std::uint32_t>(found_.size());
    found_.emplace_back();
  }
  found_[nodes_[at].found].push_back(pattern_count_);
}

bool PatternTrie::Add(const Pattern& pattern) {
  switch (pattern.kind) {
    case PatternKind::kExact:
      Find(Through(0, pattern.text));
      break;
    case PatternKind::kPrefix:
      Find(Anything(Through(0, pattern.text)));
      break;
    case PatternKind::kPresent:
      Find(Anything(0));
      break;
    case PatternKind::kGlob: {
      const GlobParts parts(pattern.text);
      Node at = Through(0, parts.literals[0]);
      for (std::size_t i = 0; i < parts.wildcards.size(); ++i) {
        const Wildcard& wildcard = parts.wildcards[i];
        for (std::uint32_t one = 0; one < wildcard.least; ++one) at = One(at);
        if (wildcard.reach == Wildcard::Reach::kSegment) at = Segment(at);
        if (wildcard.reach == Wildcard::Reach::kAnything) at = Anything(at);
        at = Through(at, parts.literals[i + 1]);
      }
      Find(at);
      break;
    }
    case PatternKind::kRegex: {
      const std::string beginning = RequiredPrefix(pattern.text);
      if (beginning.empty()) return false;
      nodes_[Anything(Through(0, beginning))].is_suspect = true;
      break;
    }
    case PatternKind::kCidr:
      return false;
  }
  ++pattern_count_;
  return nodes_.size() <= kMostNodes;
}

// A star may stand for nothing: what is behind it is reached with what is before it.
void PatternTrie::Reach(Node node, Nodes& reached) const {
  reached.push_back(node);
  if (nodes_[node].segment != kNone) Reach(nodes_[node].segment, reached);
  if (nodes_[node].anything != kNone) Reach(nodes_[node].anything, reached);
}

void PatternTrie::Order(Nodes& nodes) {
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
}

PatternTrie::Nodes PatternTrie::Start() const {
  Nodes reached;
  Reach(0, reached);
  Order(reached);
  return reached;
}

PatternTrie::Nodes PatternTrie::Step(const Nodes& from, char c) const {
  Nodes reached;
  for (const Node node : from) {
    const Place& place = nodes_[node];
    const bool stays = place.loop == Loop::kAnything || (place.loop == Loop::kSegment && c != '/');
    if (stays) Reach(node, reached);
    if (place.one != kNone && c != '/') Reach(place.one, reached);
    Node child = place.first_child;
    while (child != kNone && nodes_[child].c != c) child = nodes_[child].sibling;
    if (child != kNone) Reach(child, reached);
  }
  Order(reached);
  return reached;
}

PatternTrie::Told PatternTrie::TellOf(const Nodes& at) const {
  Told told;
  for (const Node node : at) {
    const auto& found = found_[nodes_[node].found];
    told.patterns.insert(told.patterns.end(), found.begin(), found.end());
    if (nodes_[node].is_suspect) told.is_certain = false;
  }
  std::sort(told.patterns.begin(), told.patterns.end());
  return told;
}

bool PatternTrie::IsSettled(const Nodes& at) const {
  return std::all_of(at.begin(), at.end(), [&](Node node) {
    const Place& place = nodes_[node];
    const bool ends = place.first_child == kNone && place.segment == kNone &&
                      place.anything == kNone && place.one == kNone;
    return place.loop == Loop::kAnything && ends;
  });
}

}  // namespace weir::rule
