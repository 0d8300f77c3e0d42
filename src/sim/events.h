// Virtual time: what happens next, in order. The same seed gives the same run.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "weir/units.h"

namespace weir::sim {

class Events {
 public:
  using Action = std::function<void()>;

  void At(Instant at, Action action) { queue_.push({at, ++count_, std::move(action)}); }
  void In(Nanos delay, Action action) { At(now_ + delay, std::move(action)); }

  // Lets everything happen that happens until then, and stops there.
  void RunUntil(Instant end) {
    while (!queue_.empty() && queue_.top().at <= end) {
      Event event = std::move(const_cast<Event&>(queue_.top()));  // about to be popped
      queue_.pop();
      now_ = event.at;
      event.action();
    }
    now_ = end;
  }

  [[nodiscard]] Instant now() const { return now_; }

 private:
  struct Event {
    Instant at;
    std::uint64_t number;  // of two at the same instant, the one that was planned first
    Action action;
    bool operator<(const Event& other) const {
      return at != other.at ? at > other.at : number > other.number;
    }
  };

  std::priority_queue<Event> queue_;
  Instant now_{};
  std::uint64_t count_ = 0;
};

}  // namespace weir::sim
