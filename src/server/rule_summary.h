// A rule in a few words, for lists.
#pragma once

#include <string>

#include "rule/rule.h"

namespace weir {

// "enforce", "shadow", "off"
std::string ModeText(const rule::Rule& rule);
// "ip", "user + path, ip", "all requests", "descriptor"
std::string KeysText(const rule::Rule& rule);
// "token_bucket 10/1s", "blocked", "allow"
std::string AllowanceText(const rule::Rule& rule);

}  // namespace weir
