#include "rule/descriptor_tree.h"

#include <absl/container/flat_hash_map.h>

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/check.h"

namespace weir::rule {
namespace {

using Kind = DescriptorMatch::Kind;
using NodeNumber = std::uint32_t;
using NameNumber = std::uint32_t;

constexpr NameNumber kNoName = std::numeric_limits<NameNumber>::max();

// What the tree keeps of a rule.
struct Leaf {
  std::uint32_t rule = 0;
  bool whitelisted = false;
  bool unlimited = false;
  NameNumber name = kNoName;
  std::vector<NameNumber> replaces;
  std::vector<NodeNumber> path;  // a node for each entry
  std::vector<std::string> keys;
  std::uint64_t shares = 0;  // bit i: all values that match the pattern of entry i count as one
};

// A place in the tree: where all requests are that came by the same entries.
struct Node {
  std::string composite;
  bool has_children = false;
  std::uint64_t lengths = 0;         // bit i: the text of a child has i characters, modulo 64
  std::vector<NodeNumber> patterns;  // the children that are, in the order of the rules
  std::optional<std::uint32_t> leaf;
};

// An entry of a request as one text.
class CompositeText {
 public:
  explicit CompositeText(const RequestEntry& entry)
      : key_size_(entry.key.size()), size_(key_size_ + 1 + entry.value.size()) {
    if (size_ > short_.size()) long_.resize(size_);
    char* end = std::copy(entry.key.begin(), entry.key.end(), data());
    *end = '_';
    std::copy(entry.value.begin(), entry.value.end(), end + 1);
  }
  [[nodiscard]] std::string_view whole() { return {data(), size_}; }
  [[nodiscard]] std::string_view key() { return {data(), key_size_}; }

 private:
  char* data() { return size_ > short_.size() ? long_.data() : short_.data(); }

  std::size_t key_size_;
  std::size_t size_;
  std::array<char, 512> short_;  // on the stack: most are
  std::string long_;
};

}  // namespace

class DescriptorTree::Impl {
 public:
  explicit Impl(std::span<const Rule> rules) {
    nodes_.emplace_back();
    for (std::uint32_t i = 0; i < rules.size(); ++i) {
      if (rules[i].descriptor && rules[i].mode != Mode::kOff) Add(i, rules[i]);
    }
  }

  DescriptorMatch Find(std::span<const RequestEntry> entries,
                       std::vector<std::string_view>& key) const {
    key.clear();
    if (entries.empty() || entries.size() > kMostEntries) return {};
    NodeNumber at = kRoot;
    std::uint64_t by_pattern = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const std::optional<Step> step = Down(at, entries[i]);
      if (!step) return {};
      at = step->to;
      if (step->by_pattern) by_pattern |= std::uint64_t{1} << i;
    }
    if (!nodes_[at].leaf) return {Kind::kNoLimit, 0};
    const Leaf& leaf = leaves_[*nodes_[at].leaf];
    if (leaf.whitelisted) return {Kind::kNoLimit, leaf.rule};
    FormKey(leaf, entries, by_pattern, key);
    return {Kind::kLimit, leaf.rule};
  }

  void Replace(std::span<DescriptorMatch> found) const {
    for (const DescriptorMatch& replacing : found) {
      if (!HasLimit(replacing)) continue;
      for (const NameNumber name : LeafOf(replacing).replaces) {
        for (DescriptorMatch& match : found) {
          if (match.kind != Kind::kLimit) continue;
          const Leaf& leaf = LeafOf(match);
          if (leaf.name == name && !leaf.unlimited) match.kind = Kind::kReplaced;
        }
      }
    }
  }

 private:
  struct Step {
    NodeNumber to;
    bool by_pattern;
  };
  static constexpr NodeNumber kRoot = 0;

  void Add(std::uint32_t number, const Rule& rule) {
    const Descriptor& descriptor = *rule.descriptor;
    WEIR_CHECK(!descriptor.entries.empty() && descriptor.entries.size() <= kMostEntries);
    Leaf leaf;
    leaf.rule = number;
    leaf.whitelisted = descriptor.whitelisted;
    leaf.unlimited = std::holds_alternative<Unlimited>(rule.allowance);
    NodeNumber at = kRoot;
    for (const DescriptorEntry& entry : descriptor.entries) {
      at = ChildOf(at, Composite(entry));
      if (entry.share_threshold) leaf.shares |= std::uint64_t{1} << leaf.path.size();
      leaf.path.push_back(at);
      leaf.keys.push_back(entry.key);
    }
    if (nodes_[at].leaf) return;
    if (!descriptor.limit_name.empty()) leaf.name = NumberOf(descriptor.limit_name);
    for (const std::string& name : descriptor.replaces) leaf.replaces.push_back(NumberOf(name));
    nodes_[at].leaf = static_cast<std::uint32_t>(leaves_.size());
    leaf_of_rule_[number] = static_cast<std::uint32_t>(leaves_.size());
    leaves_.push_back(std::move(leaf));
  }

  // The child of `parent` with this text, a new one if need be.
  NodeNumber ChildOf(NodeNumber parent, std::string composite) {
    if (const auto known = children_.find({parent, composite}); known != children_.end()) {
      return known->second;
    }
    const auto number = static_cast<NodeNumber>(nodes_.size());
    Node& node = nodes_.emplace_back();
    node.composite = std::move(composite);
    children_.emplace(std::pair(parent, std::string_view(node.composite)), number);
    nodes_[parent].has_children = true;
    nodes_[parent].lengths |= LengthBit(node.composite.size());
    if (node.composite.find('*') != std::string::npos) nodes_[parent].patterns.push_back(number);
    return number;
  }

  NameNumber NumberOf(const std::string& name) {
    return names_.try_emplace(name, static_cast<NameNumber>(names_.size())).first->second;
  }

  static std::uint64_t LengthBit(std::size_t length) { return std::uint64_t{1} << (length % 64); }
  // A child whose text is so long.
  static bool MayHave(const Node& node, std::size_t length) {
    return (node.lengths & LengthBit(length)) != 0;
  }

  [[nodiscard]] std::optional<NodeNumber> Child(NodeNumber parent, std::string_view text) const {
    const auto child = children_.find({parent, text});
    if (child == children_.end()) return std::nullopt;
    return child->second;
  }

  [[nodiscard]] std::optional<Step> Down(NodeNumber at, const RequestEntry& entry) const {
    const Node& node = nodes_[at];
    if (!node.has_children) return std::nullopt;
    if (node.patterns.empty() && !MayHave(node, entry.key.size() + 1 + entry.value.size())) {
      // Most rules are for any value.
      if (const auto any_value = Child(at, entry.key)) return Step{*any_value, false};
      return std::nullopt;
    }
    CompositeText text(entry);
    if (const auto exact = Child(at, text.whole())) return Step{*exact, false};
    const auto pattern = std::find_if(
        node.patterns.begin(), node.patterns.end(),
        [&](NodeNumber child) { return StarsMatch(nodes_[child].composite, text.whole()); });
    if (pattern != node.patterns.end()) return Step{*pattern, true};
    if (const auto any_value = Child(at, text.key())) return Step{*any_value, false};
    return std::nullopt;
  }

  void FormKey(const Leaf& leaf, std::span<const RequestEntry> entries, std::uint64_t by_pattern,
               std::vector<std::string_view>& key) const {
    const bool same_keys =
        std::equal(entries.begin(), entries.end(), leaf.keys.begin(),
                   [](const RequestEntry& entry, const std::string& k) { return entry.key == k; });
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (!same_keys) key.push_back(entries[i].key);
      const bool shared = ((leaf.shares & by_pattern) >> i & 1) != 0;
      key.push_back(shared ? PatternFor(entries[i], nodes_[leaf.path[i]]) : entries[i].value);
    }
  }

  // What stands in a key in place of the value: the pattern without the entry's key.
  static std::string_view PatternFor(const RequestEntry& entry, const Node& node) {
    std::string_view pattern = node.composite;
    const std::size_t key = entry.key.size();
    if (pattern.starts_with(entry.key) && pattern.size() > key && pattern[key] == '_') {
      pattern.remove_prefix(key + 1);
    }
    return pattern.empty() ? entry.value : pattern;
  }

  static bool HasLimit(const DescriptorMatch& match) {
    return match.kind == Kind::kLimit || match.kind == Kind::kReplaced;
  }
  [[nodiscard]] const Leaf& LeafOf(const DescriptorMatch& match) const {
    return leaves_[leaf_of_rule_.at(match.rule)];
  }

  std::deque<Node> nodes_;  // a deque: `children_` looks at their texts
  std::vector<Leaf> leaves_;
  absl::flat_hash_map<std::pair<NodeNumber, std::string_view>, NodeNumber> children_;
  absl::flat_hash_map<std::string, NameNumber> names_;
  absl::flat_hash_map<std::uint32_t, std::uint32_t> leaf_of_rule_;
};

DescriptorTree::DescriptorTree(std::span<const Rule> rules)
    : impl_(std::make_unique<const Impl>(rules)) {}
DescriptorTree::DescriptorTree(DescriptorTree&&) noexcept = default;
DescriptorTree& DescriptorTree::operator=(DescriptorTree&&) noexcept = default;
DescriptorTree::~DescriptorTree() = default;

DescriptorMatch DescriptorTree::Find(std::span<const RequestEntry> entries,
                                     std::vector<std::string_view>& key) const {
  return impl_->Find(entries, key);
}

void DescriptorTree::Replace(std::span<DescriptorMatch> found) const { impl_->Replace(found); }

std::string Composite(const DescriptorEntry& entry) {
  return entry.value.empty() ? entry.key : entry.key + "_" + entry.value;
}

bool StarsMatch(std::string_view pattern, std::string_view text) {
  const std::size_t first = pattern.find('*');
  if (first == std::string_view::npos) return pattern == text;
  const std::size_t last = pattern.rfind('*');
  const std::string_view head = pattern.substr(0, first);
  const std::string_view tail = pattern.substr(last + 1);
  if (text.size() < head.size() + tail.size()) return false;
  if (!text.starts_with(head) || !text.ends_with(tail)) return false;
  text = text.substr(head.size(), text.size() - head.size() - tail.size());
  // What stands between stars is taken where it comes first: that leaves the most for the rest.
  for (std::size_t star = first; star != last;) {
    const std::size_t next = pattern.find('*', star + 1);
    const std::string_view part = pattern.substr(star + 1, next - star - 1);
    const std::size_t found = text.find(part);
    if (found == std::string_view::npos) return false;
    text.remove_prefix(found + part.size());
    star = next;
  }
  return true;
}

}  // namespace weir::rule
