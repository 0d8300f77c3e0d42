// Who runs the program, for histories and audit trails.
#pragma once

#include <string>

namespace weir {

std::string LocalUser();

}  // namespace weir
