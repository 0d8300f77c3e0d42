// JSON as people read it.
#pragma once

#include <iosfwd>
#include <string>

#include "server/json_value.h"

namespace weir {

// On one line: texts as they are (safe to print), objects as "name=value name=value".
std::string ShownValue(const JsonValue& value);

// "250ms", "90s", "3h12m"; empty for null.
std::string ShownMillis(const JsonValue& millis);

// A list of objects as a table, with a column for each name that is in one of them. `nothing` is
// said if the list is empty.
void PrintObjects(const JsonValue& list, const std::string& nothing, std::ostream& out);

}  // namespace weir
