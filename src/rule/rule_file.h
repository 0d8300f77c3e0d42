// Rules as text: a file of them, or one. docs/rules.md describes the text.
//
// What comes back has been checked, all of it, and everything that is wrong is reported, each with
// its place: there are no rules that were half understood.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rule/problem.h"
#include "rule/rule.h"

namespace weir::rule {

inline constexpr std::size_t kMostRules = 100'000;  // of a file

// A whole file: a namespace and its rules. Nothing if there are problems, which are added to
// `problems` in the order of the text, with `file` as their place.
std::optional<RuleSet> ReadRules(std::string_view text, const std::string& file,
                                 Problems& problems);

// One rule alone, as it is kept in the database.
std::optional<Rule> ReadRule(std::string_view text, const std::string& file, Problems& problems);

// Whether rules can be kept under this namespace, and if not, why. (Envoy's files may name any.)
std::optional<Problem> WhatIsWrongWithSpace(std::string_view space, const std::string& file);

}  // namespace weir::rule
