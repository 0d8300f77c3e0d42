#include "rule/beginning_tree.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace weir::rule {

class BeginningTree::Builder {
 public:
  Builder(std::span<const std::string> texts, std::vector<Node>& nodes)
      : texts_(texts), nodes_(nodes) {}

  void Build() {
    nodes_.resize(1);
    std::vector<Branch> branches = {{kRoot, 0, texts_.size(), 0}};
    while (!branches.empty()) {
      const Branch branch = branches.back();
      branches.pop_back();
      Grow(branch, branches);
    }
    nodes_.shrink_to_fit();
  }

 private:
  // The texts [begin, end), which have the first `depth` characters in common, and the node that
  // stands for them.
  struct Branch {
    std::uint32_t node;
    std::size_t begin;
    std::size_t end;
    std::size_t depth;
  };

  [[nodiscard]] unsigned char CharacterOf(std::size_t text, std::size_t at) const {
    return static_cast<unsigned char>(texts_[text][at]);
  }

  void Grow(Branch branch, std::vector<Branch>& branches) {
    // What the first and the last have in common, all between them have too.
    const std::string_view first = texts_[branch.begin];
    const std::string_view last = texts_[branch.end - 1];
    Node& node = nodes_[branch.node];
    while (node.label_size < kWordBytes && branch.depth < first.size() &&
           first[branch.depth] == last[branch.depth]) {
      node.label |= std::uint64_t{CharacterOf(branch.begin, branch.depth)} << 8 * node.label_size;
      node.mask |= std::uint64_t{0xFF} << 8 * node.label_size;
      ++node.label_size;
      ++branch.depth;
    }
    if (first.size() == branch.depth) node.text = static_cast<std::uint32_t>(branch.begin++);
    if (branch.begin == branch.end) return;

    std::vector<unsigned char> characters;
    std::vector<std::size_t> begins;
    for (std::size_t i = branch.begin; i < branch.end; ++i) {
      const unsigned char character = CharacterOf(i, branch.depth);
      if (!characters.empty() && characters.back() == character) continue;
      characters.push_back(character);
      begins.push_back(i);
    }
    begins.push_back(branch.end);
    const std::uint32_t row = RowFor(characters);
    nodes_[branch.node].row = row;
    for (std::size_t i = 0; i < characters.size(); ++i) {
      const std::uint32_t child = row + characters[i];
      nodes_[child].parent = branch.node;
      branches.push_back({child, begins[i], begins[i + 1], branch.depth + 1});
    }
  }

  // A row in which there are gaps for all `characters`, which are then no gaps beyond the end.
  std::uint32_t RowFor(std::span<const unsigned char> characters) {
    // To look for gaps everywhere would take longer than the memory is worth.
    constexpr int kMostTries = 64;
    const auto is_gap = [&](std::size_t at) {
      return at >= nodes_.size() || (at != kRoot && nodes_[at].parent == kNothing);
    };
    while (!is_gap(first_gap_)) ++first_gap_;
    std::size_t at = first_gap_;  // of the first of them
    const auto fits = [&] {
      return std::all_of(characters.begin(), characters.end(), [&](unsigned char character) {
        return is_gap(at + character - characters.front());
      });
    };
    for (int tries = 0; at < nodes_.size() && !fits(); ++at) {
      if (++tries == kMostTries) at = nodes_.size() - 1;
    }
    const std::size_t end = at + characters.back() - characters.front() + 1;
    WEIR_CHECK(end < kNothing);
    if (end > nodes_.size()) nodes_.resize(end);
    return static_cast<std::uint32_t>(at) - characters.front();
  }

  std::span<const std::string> texts_;
  std::vector<Node>& nodes_;
  std::size_t first_gap_ = 1;  // none lies before it
};

BeginningTree::BeginningTree(std::span<const std::string> texts) {
  WEIR_CHECK(texts.size() < kNothing);
  if (!texts.empty()) Builder(texts, nodes_).Build();
}

}  // namespace weir::rule
