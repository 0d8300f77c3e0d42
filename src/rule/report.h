// Collects what is wrong with a file while it is read.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "rule/problem.h"

namespace weir::rule {

// Goes on after a problem, so that all are seen at once; but not forever: a file of a million
// mistakes is told the first of them.
class Report {
 public:
  static constexpr std::size_t kMost = 1000;

  Report(std::string file, Problems& problems)
      : file_(std::move(file)), problems_(problems), first_(problems.size()) {}

  // What follows is about this rule.
  void SetRule(std::string name) { rule_ = std::move(name); }
  void Add(Place place, std::string what, std::string remedy = {});
  // How many there were so far: grows if something that was read in between is wrong.
  [[nodiscard]] std::size_t count() const { return problems_.size() - first_; }
  // No more are taken: whoever would go on only to find more may stop.
  [[nodiscard]] bool full() const { return count() > kMost; }
  // Puts them in the order of the text.
  void Sort();

 private:
  std::string file_;
  std::string rule_;
  Problems& problems_;
  std::size_t first_;  // of ours
};

}  // namespace weir::rule
