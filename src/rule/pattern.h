// Patterns, one at a time: do they make sense, and does a value match?
//
// This is the meaning of a pattern. The match index finds the patterns that match among thousands
// without trying each; what it finds is what this says.
#pragma once

#include <optional>
#include <string_view>

#include "rule/rule.h"
#include "weir/result.h"

namespace weir::rule {

// What is wrong with a pattern, and the remedy; nothing if it makes sense.
std::optional<Error> WhatIsWrong(const Pattern& pattern);

// `value` is absent if its data() is null. REQUIRES: !WhatIsWrong(pattern)
bool Matches(const Pattern& pattern, std::string_view value);

// `*` any characters but '/', `**` any at all, `?` one that is not '/'; everything else stands for
// itself. Characters are bytes here. Takes at most glob times value steps, mostly their sum.
bool GlobMatches(std::string_view glob, std::string_view value);

}  // namespace weir::rule
