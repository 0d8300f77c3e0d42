// Many globs at once.
//
// A glob is literals with wildcards between them: "/api/*/item-7" is "/api/", `*`, "/item-7". Globs
// that begin alike share a path in a tree whose nodes are wildcards and whose edges are literals;
// which edges go on from a place in the value is a question to the literal table. So the cost is
// that of the value and of the globs that match so far, however many others there are.
//
// What globs begin with, their heads, is looked for by whoever has the tree, together with whatever
// else a value may begin with.
//
// Where an edge leads to one glob alone, there is no node: the rest of the glob is noted beside the
// literal, which saves the cache some misses.
//
// Thread safety: a finished tree is never changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rule/glob_parts.h"
#include "rule/glob_rest.h"
#include "rule/literal_table.h"

namespace weir::rule {

class GlobTree {
 public:
  class Builder;

  // Adds the numbers of the globs with one head that match, some perhaps twice; `at` is where the
  // head ends. `table` is what the tree was built with.
  void Find(std::uint32_t head, std::size_t at, const LiteralTable& table, std::string_view value,
            Hits& hits) const;

 private:
  struct alignas(64) Node {
    Wildcard wildcard;
    LiteralTable::Packed end = LiteralTable::kNothing;  // globs whose last part is the wildcard
    LiteralTable::Set tails;                            // literals that end globs
    LiteralTable::Set inners;                           // literals that lead on
  };
  // Where in the value the wildcard of a node begins.
  struct Arrival {
    std::uint32_t node = 0;
    std::size_t at = 0;

    auto operator<=>(const Arrival&) const = default;
  };
  // The same where one glob is left.
  struct Lone {
    const char* rest = nullptr;  // equal for equal globs
    std::size_t at = 0;
    std::size_t rest_length = 0;
    LiteralTable::Packed globs = LiteralTable::kNothing;

    auto operator<=>(const Lone&) const = default;
  };
  // Where globs with one beginning go on: at nodes, or in one rest.
  struct Head {
    LiteralTable::Packed nodes = LiteralTable::kNothing;
    LiteralTable::Packed globs = LiteralTable::kNothing;  // with the rest
    GlobRest rest;
  };
  class Search;

  std::vector<Node> nodes_;
  std::vector<Head> heads_;
};

class GlobTree::Builder {
 public:
  explicit Builder(LiteralTable::Builder& literals) : literals_(literals) {}

  // REQUIRES: there are wildcards
  void Add(const GlobParts& parts, std::uint32_t number);
  // When all were added, and before the literals are built. Returns the heads, by their numbers.
  std::vector<std::string> AddLiterals();
  // After that.
  GlobTree Build(const LiteralTable& table) &&;

 private:
  using Numbers = std::vector<std::uint32_t>;
  // Globs that are alike up to a wildcard, by what follows it.
  struct Draft {
    Wildcard wildcard;
    Numbers end;
    std::map<std::string, Numbers> tails;
    std::map<std::string, std::map<Wildcard, std::uint32_t>> inners;  // to other drafts
    // What the one glob below it is from its wildcard on; empty if there are several.
    std::string rest;
    LiteralTable::SetNumber tail_set = 0;
    LiteralTable::SetNumber inner_set = 0;
    LiteralTable::Packed packed_end = LiteralTable::kNothing;
  };

  std::uint32_t DraftAfter(std::uint32_t draft, const std::string& literal, Wildcard wildcard,
                           const std::string& rest);
  [[nodiscard]] bool IsLone(const std::string& literal,
                            const std::map<Wildcard, std::uint32_t>& by_wildcard) const;
  void AddHead(const std::string& literal, const std::map<Wildcard, std::uint32_t>& by_wildcard);
  void AddInners(const Draft& draft);
  [[nodiscard]] Numbers AllBelow(std::uint32_t draft) const;

  LiteralTable::Builder& literals_;
  std::vector<Draft> drafts_ = std::vector<Draft>(1);  // the first is before all heads
  std::vector<Head> heads_;
};

}  // namespace weir::rule
