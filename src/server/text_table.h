// Rows of text in aligned columns.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace weir {

using TextRow = std::vector<std::string>;

// Two blanks between columns, none at the end of a line. REQUIRES: the text is UTF-8 on one line.
void PrintTable(const std::vector<TextRow>& rows, std::ostream& out);

}  // namespace weir
