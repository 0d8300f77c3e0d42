// The manual page weir(1), made from the commands themselves: `weir man`.
#pragma once

#include <string>

#include "server/command_tree.h"

namespace weir {

std::string ManPage(const Command& root, const std::string& version);

}  // namespace weir
