#include "base/clock.h"

#include <ctime>

namespace weir {
namespace {

Nanos Read(clockid_t id) noexcept {
  timespec t{};
  clock_gettime(id, &t);
  return std::chrono::seconds(t.tv_sec) + Nanos(t.tv_nsec);
}

}  // namespace

Nanos BootTime() noexcept { return Read(CLOCK_BOOTTIME); }

Nanos WallMinusBoot() noexcept { return Read(CLOCK_REALTIME) - Read(CLOCK_BOOTTIME); }

// The distance to the wall clock is taken once per process. Processes that share a mapped table
// take it from the table instead, so that they agree.
Clock::time_point Clock::now() noexcept {
  static const Nanos kOffset = WallMinusBoot();
  return time_point(BootTime() + kOffset);
}

}  // namespace weir
