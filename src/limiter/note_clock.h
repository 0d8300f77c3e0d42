// The clock of a table in a file.
#pragma once

#include "table/header.h"
#include "table/memory.h"

namespace weir {

// All processes that share a table read the same clock: the boot's, and the wall clock as it was
// when the first of them came. After another boot, time goes on from the later of the wall clock
// and what was seen last: the wall clock may have been set back meanwhile.
void SetClock(table::Note& note, const table::Memory& memory);

}  // namespace weir
