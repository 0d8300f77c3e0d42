// Writes what match_reader.h and key_reader.h read.
#pragma once

#include <string>
#include <vector>

#include "rule/rule.h"

namespace weir::rule {

std::string WriteMatch(const Match& match);
std::string WriteKeys(const std::vector<Key>& keys);

}  // namespace weir::rule
