// Reads the configuration of envoyproxy/ratelimit as rules of ours. docs/envoy.md describes it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rule/problem.h"
#include "rule/rule.h"
#include "rule/yaml.h"

namespace weir::rule {

// Whether this is such a file and not one of ours.
bool LooksLikeEnvoy(const YamlNode& root);

// What envoyproxy/ratelimit reads is read, and means the same; what it refuses is refused, in its
// words and with a place. All rules have a descriptor. All problems are reported, in the order of
// the text. `doubts`, if given, gets what has no effect although it looks as if it had one.
std::optional<RuleSet> ReadEnvoyRules(std::string_view text, const std::string& file,
                                      Problems& problems, Problems* doubts = nullptr);

}  // namespace weir::rule
