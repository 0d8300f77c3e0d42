// Numbers and durations as people write them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "weir/result.h"
#include "weir/units.h"

namespace weir {

// The words of a line, without the blanks between them.
std::vector<std::string_view> SplitWords(std::string_view line);

// Digits only: no sign, no blanks. The error says what was expected.
Result<std::uint64_t> ParseCount(std::string_view text);

// "250ms", "90s", "1h", or a unit alone for one of it: ns us ms s m min h d.
Result<Nanos> ParseDuration(std::string_view text);

// The shortest exact form: 1500ms, 90s, 1h.
std::string FormatDuration(Nanos duration);

}  // namespace weir
