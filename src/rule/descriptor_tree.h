// Finds the one rule that counts for a descriptor, as Envoy sends them.
//
// A descriptor is a list of entries (key and value), from the general to the special. The rules'
// descriptors form a tree, an entry a level, and a request's entries are followed down in order. At
// each level the first of these that is there is taken, and never taken back:
//
//   1. the entry with exactly this key and value,
//   2. the patterns (`*` stands for any characters, none and '/' too) in the order of the rules,
//   3. the entry with this key and no value.
//
// A rule counts only where the request's last entry ends. A place in the tree that has no rule of
// its own limits nothing, also if a less specific rule beside it would.
//
// Keys and values are compared as one text, "key_value", as envoyproxy/ratelimit does: an entry
// `a_b` without a value and an entry `a` with the value `b` are the same entry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "rule/rule.h"

namespace weir::rule {

struct RequestEntry {
  std::string_view key;
  std::string_view value;
};

struct DescriptorMatch {
  enum class Kind : std::uint8_t {
    kNothing,   // the tree has no such place
    kNoLimit,   // it has, but nothing is limited there
    kLimit,     // `rule` counts
    kReplaced,  // `rule` would count, but another rule of the same request replaces it
  };
  Kind kind = Kind::kNothing;
  std::uint32_t rule = 0;  // its number among the rules the tree was made of

  bool operator==(const DescriptorMatch&) const = default;
};

class DescriptorTree {
 public:
  // A request with more entries finds nothing.
  static constexpr std::size_t kMostEntries = 64;

  // Of rules that have a descriptor and are not off; of two with the same entries, the first.
  // Nothing of `rules` is looked at afterwards. REQUIRES: at most kMostEntries entries each
  explicit DescriptorTree(std::span<const Rule> rules);
  DescriptorTree(DescriptorTree&&) noexcept;
  DescriptorTree& operator=(DescriptorTree&&) noexcept;
  ~DescriptorTree();

  // The rule for `entries`, and in `key` what it counts by: the values of the entries, where an
  // entry that shares its threshold stands with its pattern. (Where a request's keys are not those
  // of the rule, which takes an `_` or a `*` in a key, keys and values take turns instead.) The
  // views look at `entries` and into the tree.
  //
  // One look-up for each entry, however many rules there are, and one try for each pattern beside
  // it. Allocates nothing while `key` has room and entries are shorter than 512 bytes.
  DescriptorMatch Find(std::span<const RequestEntry> entries,
                       std::vector<std::string_view>& key) const;

  // Given what was found for all descriptors of one request: limits whose name another of them
  // replaces become kReplaced. One that is replaced still replaces others, and an unlimited one is
  // never replaced. The time grows with matches times those that replace something.
  void Replace(std::span<DescriptorMatch> found) const;

 private:
  class Impl;
  std::unique_ptr<const Impl> impl_;
};

// The text an entry is compared as: "key_value", or "key" where there is no value.
std::string Composite(const DescriptorEntry& entry);

// `*` stands for any characters, also for none; everything else for itself.
bool StarsMatch(std::string_view pattern, std::string_view text);

}  // namespace weir::rule
