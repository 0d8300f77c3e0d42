// Finds, among thousands of matches, those that hold for a request, in a time that does not grow
// with those that do not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "rule/attribute.h"
#include "rule/rule.h"

namespace weir::rule {

class MatchIndex {
 public:
  // The attributes are added to `schema`. REQUIRES: the patterns make sense, and the schema has
  // room.
  MatchIndex(std::span<const Match* const> matches, Schema& schema);
  MatchIndex(MatchIndex&&) noexcept;
  MatchIndex& operator=(MatchIndex&&) noexcept;
  ~MatchIndex();

  // Adds to `found` the numbers of the matches that hold, in ascending order. Allocates nothing
  // while `found` has room.
  void Find(const Values& values, std::vector<std::uint32_t>& found) const;
  // The first of them only: the lowest number, or nothing.
  [[nodiscard]] std::optional<std::uint32_t> First(const Values& values) const;
  // The first of them that `accepts` takes.
  [[nodiscard]] std::optional<std::uint32_t> First(
      const Values& values, const std::function<bool(std::uint32_t)>& accepts) const;

 private:
  class Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace weir::rule
