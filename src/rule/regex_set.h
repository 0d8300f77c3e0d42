// Many expressions at once.
//
// RE2 can ask them all in one pass over the value, but the cost of that pass and its memory grow
// with them. Where few expressions share a beginning in plain text ("/svc-7/v[0-9]+" begins with
// "/svc-7/v"), whoever finds that text at the beginning of a value has only them tried.
//
// Thread safety: a finished set is never changed, but for RE2's caches, which it guards.
#pragma once

#include <re2/set.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rule/literal_table.h"
#include "rule/regex.h"

namespace weir::rule {

class RegexSet {
 public:
  class Builder;

  // Adds the numbers of the expressions with a common beginning that match, if the value has it.
  // `table` is what the set was built with.
  void FindSingles(LiteralTable::Packed singles, const LiteralTable& table, std::string_view value,
                   Hits& hits) const;
  // The same for those that have none.
  void FindOthers(const LiteralTable& table, std::string_view value, Hits& hits) const {
    if (!groups_.empty()) FindInGroups(table, value, hits);
  }

 private:
  // Found by what they begin with.
  struct Single {
    Regex regex;
    LiteralTable::Packed numbers;
  };
  // Found by one pass over the value. Of expression i, `numbers[i]`.
  struct Group {
    std::unique_ptr<const RE2::Set> set;
    std::vector<std::string> texts;
    std::vector<LiteralTable::Packed> numbers;
  };

  void FindInGroups(const LiteralTable& table, std::string_view value, Hits& hits) const;
  static void Find(const LiteralTable& table, const Group& group, const RegexValue& value,
                   Hits& hits);

  std::vector<Single> singles_;
  std::vector<Group> groups_;
};

class RegexSet::Builder {
 public:
  explicit Builder(LiteralTable::Builder& literals) : literals_(literals) {}

  // REQUIRES: the text compiles
  void Add(const std::string& text, std::uint32_t number) { texts_[text].push_back(number); }
  // When all were added, and before the literals are built. Returns what some begin with, and what
  // leads to them.
  std::map<std::string, LiteralTable::Packed> Pack();
  RegexSet Build() && { return std::move(made_); }

 private:
  using Texts = std::vector<std::pair<std::string, LiteralTable::Packed>>;

  void AddGroups(std::span<const Texts::value_type> texts);

  LiteralTable::Builder& literals_;
  std::map<std::string, std::vector<std::uint32_t>> texts_;
  RegexSet made_;
};

}  // namespace weir::rule
