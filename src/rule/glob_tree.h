// Many globs at once.
//
// A glob is literals with wildcards between them: "/api/*/item-7" is "/api/", `*`, "/item-7". Globs
// that begin alike share a path in a tree whose nodes are wildcards and whose edges are literals;
// which edges go on from a place in the value is a question to the literal table. So the cost is
// that of the value and of the globs that match so far, however many others there are.
//
// Thread safety: a finished tree is never changed.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "rule/literal_table.h"

namespace weir::rule {

struct Wildcard {
  enum class Reach : std::uint8_t {
    kExactly,   // `least` characters, none of them '/'
    kSegment,   // as many or more, none of them '/'
    kAnything,  // any number of any characters; `least` is 0
  };
  Reach reach = Reach::kAnything;
  std::uint32_t least = 0;

  bool operator==(const Wildcard&) const = default;
};

// literals[0] wildcards[0] literals[1] ... literals[n]; literals may be empty.
struct GlobParts {
  explicit GlobParts(std::string_view glob);

  std::vector<std::string> literals = {{}};
  std::vector<Wildcard> wildcards;
};

class GlobTree {
 public:
  class Builder;

  [[nodiscard]] bool empty() const { return nodes_.empty(); }
  // Adds the numbers of the globs that match. `table` is what the tree was built with.
  void Find(const LiteralTable& table, std::string_view value, Hits& hits) const;

 private:
  struct alignas(64) Node {
    Wildcard wildcard;
    LiteralTable::Packed end = LiteralTable::kNothing;  // globs whose last part is the wildcard
    LiteralTable::Set tails;                            // literals that end globs
    LiteralTable::Set inners;                           // literals that lead to further nodes
  };
  // A node whose wildcard begins at a place in the value.
  struct Arrival {
    std::uint32_t node = 0;
    std::size_t at = 0;

    auto operator<=>(const Arrival&) const = default;
  };

  // All arrivals at one node, in ascending order: each node is visited once, whatever the value.
  void Visit(const LiteralTable& table, std::string_view value, std::span<const Arrival> arrivals,
             Hits& hits) const;

  std::vector<Node> nodes_;
  LiteralTable::Set heads_;
};

class GlobTree::Builder {
 public:
  explicit Builder(LiteralTable::Builder& literals)
      : literals_(literals), heads_(literals.NewSet()) {}

  // REQUIRES: there are wildcards
  void Add(const GlobParts& parts, std::uint32_t number);
  // Before the literals are built.
  void Pack();
  // After that.
  GlobTree Build(const LiteralTable& table) &&;

 private:
  struct Draft {
    Wildcard wildcard;
    LiteralTable::SetNumber tails;
    LiteralTable::SetNumber inners;
    std::vector<std::uint32_t> end;
    LiteralTable::Packed packed_end = LiteralTable::kNothing;
  };
  using Edge = std::tuple<LiteralTable::SetNumber, std::string, Wildcard::Reach, std::uint32_t>;

  std::uint32_t NodeAfter(LiteralTable::SetNumber set, const std::string& literal,
                          Wildcard wildcard);

  LiteralTable::Builder& literals_;
  LiteralTable::SetNumber heads_;
  std::vector<Draft> drafts_;
  absl::flat_hash_map<Edge, std::uint32_t> edges_;
};

}  // namespace weir::rule
