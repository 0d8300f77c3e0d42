// YAML as a tree that knows where everything stood, read in bounded time and memory.
//
// The text comes from a person, or from somebody who means harm: its size, its depth, the number of
// its nodes and what the parser must remember at once are bounded, and aliases (which let a few
// lines stand for a billion) are refused.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rule/problem.h"

namespace weir::rule {

struct YamlLimits {
  std::size_t bytes = std::size_t{32} << 20;
  std::size_t nodes = 4'000'000;
  int depth = 32;
  std::size_t key_bytes = 128;
  // How much text the parser may put away before it says what it holds: what stands in one pair of
  // brackets, for the most part.
  std::size_t bytes_ahead = std::size_t{1} << 20;
};

class YamlNode {
 public:
  enum class Kind : unsigned char { kNull, kScalar, kList, kMap };
  struct Entry;

  Kind kind = Kind::kNull;
  Place place;
  std::string scalar;          // kScalar
  bool quoted = false;         // kScalar: "5" is not the number 5
  std::vector<YamlNode> list;  // kList
  std::vector<Entry> map;      // kMap, in the order of the text; keys are unique

  // "a list", "a map", "'abc'", "nothing": for messages.
  [[nodiscard]] std::string Describe() const;
  // The value under `key`, or null. REQUIRES: a map
  [[nodiscard]] const YamlNode* Find(std::string_view key) const;
};

struct YamlNode::Entry {
  std::string key;
  Place place;  // of the key
  YamlNode value;
};

// The first document of `text`; a second one, or anything that is not what this tree can hold, is a
// problem. Returns false if there were problems, which are added with `file` as their place.
bool ReadYaml(std::string_view text, const std::string& file, YamlNode& root, Problems& problems,
              const YamlLimits& limits = {});

}  // namespace weir::rule
