// The commands of the program, apart from its command line.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace weir {

// `weir trace FILE...`: runs traces. Returns 0 if all of them hold, 1 if something does not, 2 if a
// file cannot be read.
int RunTraces(const std::vector<std::string>& files, std::ostream& out, std::ostream& err);

// `weir demo`: a client that asks too often, and what it is told.
int RunDemo(std::ostream& out);

}  // namespace weir
