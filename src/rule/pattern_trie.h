// The patterns that rules have for one attribute, as one machine that reads a value character by
// character.
//
//     /api/**   /api/v1/orders   /api/v*/bulk
//
//     / a p i / --+-- ** (found)                  what patterns begin with in common is there once;
//                 +-- v --+-- 1 / o r ...         where a star stands, reading goes on in several
//                         +-- * -- / b u l k      places at a time
//
// What is read so far is the set of places that were reached. It is all that there is to remember,
// so whoever gives these sets numbers (value_classes.h) reads a character in a few instructions.
//
// Thread safety: a finished trie is never changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "rule/rule.h"

namespace weir::rule {

class PatternTrie {
 public:
  using Node = std::uint32_t;
  using Nodes = std::vector<Node>;  // ascending, each once

  // Enough for tens of thousands of rules.
  static constexpr std::size_t kMostNodes = std::size_t{1} << 21;

  PatternTrie() : nodes_(1) {}

  // False if it takes more than reading characters (an expression that may begin with anything, a
  // network), or there are too many: the trie is of no use then. REQUIRES: the pattern makes sense
  [[nodiscard]] bool Add(const Pattern& pattern);
  [[nodiscard]] bool empty() const { return pattern_count_ == 0; }

  [[nodiscard]] Nodes Start() const;
  [[nodiscard]] Nodes Step(const Nodes& from, char c) const;

  // What is known of a value that ends here.
  struct Told {
    std::vector<std::uint32_t> patterns;  // that match it, by when they were added; ascending
    bool is_certain = true;               // false: an expression would have to be tried
  };
  [[nodiscard]] Told TellOf(const Nodes& at) const;
  // Whether the same is known of it however it goes on.
  [[nodiscard]] bool IsSettled(const Nodes& at) const;

 private:
  static constexpr Node kNone = 0;  // the root is nobody's child

  enum class Loop : std::uint8_t { kNone, kSegment, kAnything };
  // Children by character are a list: few have more than two.
  struct Place {
    Node first_child = kNone;
    Node sibling = kNone;
    Node segment = kNone;     // behind a `*`, which may stand for nothing
    Node anything = kNone;    // behind a `**`, likewise
    Node one = kNone;         // behind a `?`
    std::uint32_t found = 0;  // in found_, if not 0
    char c = 0;
    Loop loop = Loop::kNone;
    bool is_suspect = false;  // an expression begins like this
  };

  Node NewNode();
  Node Through(Node from, std::string_view literal);
  Node Segment(Node from);
  Node Anything(Node from);
  Node One(Node from);
  void Find(Node at);
  void Reach(Node node, Nodes& reached) const;
  static void Order(Nodes& nodes);

  std::vector<Place> nodes_;
  std::vector<std::vector<std::uint32_t>> found_ = {{}};
  std::uint32_t pattern_count_ = 0;
};

}  // namespace weir::rule
