// A request as it is written on the command line: path=/login method=POST user="Ann Lee".
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "weir/result.h"

namespace weir {

// Name and value, in the order of the text.
using RequestAttributes = std::vector<std::pair<std::string, std::string>>;

// NAME=VALUE with blanks between them. Quotes of either kind keep blanks in a value; within them,
// or without, a backslash takes the next character as it is. Names of headers become lower case, as
// rules write them. One name may be there twice: Envoy's descriptors do so.
Result<RequestAttributes> ParseRequest(std::string_view text);

}  // namespace weir
