// Things under way, each with a number by which it is found again. Numbers of what has ended are
// given again, so that there is only as much room as there was ever under way at a time.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace weir {

template <typename Thing>
class Numbered {
 public:
  std::size_t Put(Thing thing) {
    if (free_.empty()) {
      things_.push_back(std::move(thing));
      return things_.size() - 1;
    }
    const std::size_t number = free_.back();
    free_.pop_back();
    things_[number] = std::move(thing);
    return number;
  }

  // Its number is free again. REQUIRES: it was put, and not taken since
  Thing Take(std::size_t number) {
    free_.push_back(number);
    return std::exchange(things_[number], {});
  }

  // How many there are.
  [[nodiscard]] std::size_t size() const { return things_.size() - free_.size(); }

 private:
  std::vector<Thing> things_;  // by their numbers; some are free
  std::vector<std::size_t> free_;
};

}  // namespace weir
