// The body of a call in JSON, from somebody who may mean harm, as a tree that knows its places.
//
// It is checked to be JSON first and then read as YAML, which JSON is a part of: so a wrong field
// is told by its line and column, a name given twice is refused, and the readers of rules
// (rule/field_reader.h) work on it as they do on files.
#pragma once

#include <string>
#include <string_view>

#include "rule/problem.h"
#include "rule/yaml.h"
#include "weir/result.h"

namespace weir {

inline constexpr int kDeepestJson = 16;  // objects and lists within each other

// What readers of YAML take for the same: pairs of escapes that stand for one character (as in
// "\ud83d\ude00") become that character, and a colon stands right behind its name. An error if it
// is no JSON.
Result<std::string> JsonAsYaml(std::string_view json);

// Reads an object. False if there are problems, which are added.
bool ReadJsonObject(std::string_view json, rule::YamlNode& root, rule::Problems& problems);

}  // namespace weir
