// The end of a file of lines, read backwards: as much of it as is asked for, however long it is.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/descriptor.h"

namespace weir {

// Adds lines that are `wanted`, the last first, until `lines` has `count` of them. What follows the
// last line end is a line that is not complete, and none.
void AddLastLines(const Descriptor& file, std::size_t count,
                  const std::function<bool(const std::string&)>& wanted,
                  std::vector<std::string>& lines);

}  // namespace weir
