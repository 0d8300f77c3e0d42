// How much is asked for lately: two counters for windows of equal length, the older one weighted by
// how much of it is still in view. Whole numbers, no decay to compute when nobody asks.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/wide_math.h"
#include "weir/units.h"

namespace weir::authority {

class DemandMeter {
 public:
  explicit DemandMeter(Nanos window) : window_(window) {}

  void Add(std::uint64_t permits, Instant now) {
    Turn(now);
    count_ += permits;
  }

  // What would be asked for in `span` at the pace of the last window.
  std::uint64_t In(Nanos span, Instant now) {
    Turn(now);
    const auto window = static_cast<std::uint64_t>(window_.count());
    const auto rest = static_cast<std::uint64_t>((begin_ + window_ - now).count());
    const Uint128 lately = Mul(count_, window) + Mul(before_, rest);
    return Saturate(lately / window * static_cast<std::uint64_t>(span.count()) / window);
  }

  // What the window that has just begun would come to at its pace so far, or what the last one came
  // to if that is more: sees a rush before the window is over. Fewer than `least` are chance.
  std::uint64_t Rush(std::uint64_t least, Instant now) {
    Turn(now);
    const Nanos passed = std::max(window_ / 8, now - begin_);
    const std::uint64_t pace =
        count_ < least ? 0
                       : Saturate(Mul(count_, static_cast<std::uint64_t>(window_.count())) /
                                  static_cast<std::uint64_t>(passed.count()));
    return std::max(pace, before_ < least ? 0 : before_);
  }

  [[nodiscard]] Nanos window() const { return window_; }

 private:
  void Turn(Instant now) {
    if (now < begin_ + window_) {
      if (now < begin_) begin_ = now;  // a clock that was set back begins anew
      return;
    }
    const bool is_next = now < begin_ + 2 * window_;
    before_ = is_next ? count_ : 0;
    count_ = 0;
    begin_ = is_next ? begin_ + window_ : now;
  }

  Nanos window_;
  Instant begin_{};
  std::uint64_t count_ = 0;
  std::uint64_t before_ = 0;
};

}  // namespace weir::authority
