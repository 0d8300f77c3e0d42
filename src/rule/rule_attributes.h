// Which attributes of a request a rule asks for.
#pragma once

#include <functional>
#include <string>

#include "rule/rule.h"

namespace weir::rule {

// Calls `use` with each, some of them more than once.
void ForEachAttribute(const Rule& rule, const std::function<void(const std::string&)>& use);

}  // namespace weir::rule
