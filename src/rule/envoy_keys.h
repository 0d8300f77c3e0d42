// Which words a file of envoyproxy/ratelimit may hold, and where they mean something.
//
// It has one list of words for the whole file: a word of the list in the wrong place is not an
// error, it is ignored. So there are two checks: words that are refused anywhere, and words that
// have no effect where they stand.
#pragma once

#include "rule/report.h"
#include "rule/yaml.h"

namespace weir::rule {

enum class EnvoyLevel { kFile, kDescriptor, kRateLimit, kReplaces };

// Reports what is refused whatever the place: unknown keys, lists of other things than maps,
// numbers that are not whole. What `metadata` holds is not looked at. REQUIRES: `root` is a map
void CheckEnvoyKeys(const YamlNode& root, Report& problems);

// Reports the keys of `map` that are ignored on this level.
void DoubtEnvoyKeys(const YamlNode& map, EnvoyLevel level, Report& doubts);

// A number that is not whole, or too large: CheckEnvoyKeys has said what is wrong with it.
bool IsRefusedScalar(const YamlNode& node);

}  // namespace weir::rule
