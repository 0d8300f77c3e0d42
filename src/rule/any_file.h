// A file of rules in any of the forms that are read: ours (rule_file.h) or Envoy's (envoy_file.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rule/problem.h"
#include "rule/rule.h"

namespace weir::rule {

// As ReadRules() or ReadEnvoyRules(), whichever the text is for. `doubts` are about Envoy's alone,
// and so is `envoys`: how a cluster shares their limits, of which the files say nothing.
std::optional<RuleSet> ReadAnyRules(std::string_view text, const std::string& file,
                                    Problems& problems, Problems* doubts = nullptr,
                                    Sharing envoys = Sharing::kNone);

}  // namespace weir::rule
