// What a timeline remembers (limiter/timeline.h). It lies here because it lives in tables too.
#pragma once

#include <atomic>
#include <cstdint>

namespace weir {

// All zero is a timeline on which nothing was seen. May lie in shared memory.
struct TimelineState {
  std::atomic<std::int64_t> latest_ns{0};
  std::atomic<std::int64_t> set_back_ns{0};  // how far callers' clocks were set back in all
};

}  // namespace weir
