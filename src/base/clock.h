// The clocks of the machine.
#pragma once

#include "weir/units.h"

namespace weir {

// Since boot, time asleep included: the same in all processes, and nobody can set it.
Nanos BootTime() noexcept;

// What to add to BootTime() to get the wall clock's time, as of now.
Nanos WallMinusBoot() noexcept;

}  // namespace weir
