// YAML as JSON text, for values that are handed on and not looked at.
#pragma once

#include <string>
#include <string_view>

#include "rule/yaml.h"

namespace weir::rule {

// Compact, in the order of the text. Words that JSON knows (true, false, null and numbers) stay
// what they are unless they are quoted; everything else is a string.
std::string ToJson(const YamlNode& node);

// `text` as a string of JSON, which is one of YAML too.
std::string JsonString(std::string_view text);

}  // namespace weir::rule
