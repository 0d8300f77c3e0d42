// The program from its command line on.
#pragma once

#include <string>
#include <vector>

#include "server/streams.h"

namespace weir {

// `arguments` without the program's name. Returns the exit code.
int RunProgram(const std::vector<std::string>& arguments, const std::string& version, Streams io);

}  // namespace weir
