#include "limiter/note_clock.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "base/clock.h"
#include "weir/units.h"

namespace weir {
namespace {

// How far the clock of an earlier boot may have been ahead of the one of this.
constexpr Nanos kMostAhead = std::chrono::hours(24 * 366);

std::string BootId() {
  std::string id;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), id);
  return id;
}

}  // namespace

void SetClock(table::Note& note, const table::Memory& memory) {
  const std::string boot = BootId();
  if (note.sequence != 0 && table::TextOf(note.boot_id) == boot) return;
  const Nanos wall = BootTime() + WallMinusBoot();
  // An instant that no clock shows was somebody's test, or mistake.
  const Nanos latest = std::min(
      Nanos(memory.header().timeline.latest_ns.load(std::memory_order_relaxed)), wall + kMostAhead);
  note.wall_minus_boot_ns = (std::max(wall, latest) - BootTime()).count();
  table::CopyText(boot, note.boot_id);
}

}  // namespace weir
