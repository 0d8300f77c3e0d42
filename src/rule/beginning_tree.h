// Texts, and which of them a value begins with: found in one walk along the value.
//
//     "/api/"                            texts that begin alike share a path, and a node is what
//     "/api/v1/"     /a -- pi/ -- v1/    they have in common up to where they part
//     "/about"         \-- bout
//
// A step from a node to the next costs one look into one line of the cache, whichever character
// leads there: the children of a node lie in a row, each as far from the beginning of the row as
// its character says. Rows are mostly gaps, and lie over each other where the gaps allow it; every
// node knows its parent, so that nobody takes a child of another for its own.
//
// Thread safety: never changed once made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_words.h"

namespace weir::rule {

class BeginningTree {
 public:
  BeginningTree() = default;
  // REQUIRES: the texts are in ascending order, and all are different
  explicit BeginningTree(std::span<const std::string> texts);

  // Calls visit(i, length) for each texts[i] that `value` begins with, the shortest first.
  template <typename Visit>
  void ForEachBeginningOf(std::string_view value, const Visit& visit) const {
    if (nodes_.empty()) return;
    const Characters characters(value);
    std::uint32_t here = kRoot;
    std::size_t at = 0;
    for (;;) {
      const Node& node = nodes_[here];
      if (node.label_size > 0) {
        if (node.label_size > value.size() - at) return;
        if (((characters.From(at) ^ node.label) & node.mask) != 0) return;
        at += node.label_size;
      }
      if (node.text != kNothing) visit(node.text, at);
      if (at == value.size()) return;
      const std::uint32_t next = node.row + static_cast<unsigned char>(value[at]);
      if (next >= nodes_.size() || nodes_[next].parent != here) return;
      here = next;
      ++at;
    }
  }

 private:
  class Builder;

  static constexpr std::uint32_t kNothing = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t kRoot = 0;

  // Reached by a character; then come those of its label. What is longer than a word goes on in a
  // child.
  struct alignas(32) Node {
    std::uint64_t label = 0;
    std::uint64_t mask = 0;           // of its characters
    std::uint32_t parent = kNothing;  // none: a gap, or the root
    std::uint32_t row = 0;            // children lie so far behind their characters; may wrap
    std::uint32_t text = kNothing;    // that ends here
    std::uint32_t label_size = 0;     // characters, at most kWordBytes
  };

  // A value to be read a word at a time, also where it has less than a word left.
  class Characters {
   public:
    explicit Characters(std::string_view value) : value_(value) {
      if (value.size() >= kWordBytes) {
        last_ = LoadWord(value.data() + value.size() - kWordBytes);
      } else {
        for (const char c : value)
          last_ = last_ >> 8 | std::uint64_t{static_cast<unsigned char>(c)} << 56;
      }
    }
    // What follows the end of the value is zero. REQUIRES: at < value.size()
    [[nodiscard]] std::uint64_t From(std::size_t at) const {
      const std::size_t left = value_.size() - at;
      return left >= kWordBytes ? LoadWord(value_.data() + at) : last_ >> 8 * (kWordBytes - left);
    }

   private:
    std::string_view value_;
    std::uint64_t last_ = 0;  // its last characters, the very last in the highest byte
  };

  std::vector<Node> nodes_;
};

}  // namespace weir::rule
