// The rule files that a command is given: paths, directories, or "-" for the standard input.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "catalog/rule_files.h"

namespace weir {

// All files at one path. False if something cannot be read, which is told on `err`.
bool ReadInput(const std::string& path, std::istream& in, std::ostream& err,
               std::vector<catalog::RuleFile>& files);

}  // namespace weir
