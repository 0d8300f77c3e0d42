// Where windows lie in time: of equal length from the epoch, or as the calendar of a place has
// them.
//
// Windows are numbered; the number of the window, not its start, is what a state remembers.
#pragma once

#include <cstdint>
#include <memory>

#include "weir/limit.h"
#include "weir/result.h"

namespace weir::algorithm {

class Windows {
 public:
  struct Span {
    std::uint64_t number;
    std::uint64_t start_ns;
    std::uint64_t end_ns;  // the first nanosecond of the next
  };

  // `parts` windows per `period`; their borders are rounded up to whole nanoseconds.
  static Windows Equal(Nanos period, std::uint32_t parts = 1);
  static Result<Windows> Of(const Calendar& calendar);

  [[nodiscard]] Span At(std::uint64_t now_ns) const;
  // REQUIRES: number is at most a little ahead of the window of an instant in use.
  [[nodiscard]] std::uint64_t StartOf(std::uint64_t number) const;

  // No two windows are farther apart than this.
  [[nodiscard]] std::uint64_t longest_ns() const { return longest_ns_; }
  [[nodiscard]] std::uint64_t shortest_ns() const { return shortest_ns_; }

 private:
  struct Zone;  // hides the time zone library

  Windows() = default;

  std::uint64_t period_ns_ = 0;
  std::uint64_t parts_ = 1;
  std::uint64_t longest_ns_ = 0;
  std::uint64_t shortest_ns_ = 0;
  std::shared_ptr<const Zone> zone_;  // null: equal windows. Constant, so copies may share it.
};

}  // namespace weir::algorithm
