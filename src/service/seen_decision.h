// A decision as it is shown to people: what was asked, what was said, and why.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "service/rule_counters.h"
#include "weir/units.h"

namespace weir {

struct SeenDecision {
  // What one limit of one rule said.
  struct Part {
    std::string rule;
    std::string key;    // "ip=192.0.2.0/24 user=ann"
    std::string limit;  // "token_bucket 10/1s"; "blocked", "banned", or "unlimited"
    RuleOutcome outcome = RuleOutcome::kAllowed;
    Permits remaining{};
    Nanos retry_after{0};
  };

  Instant at{};
  std::string space;
  // What the rules asked for, where the request had it. Values that may be secrets are not told,
  // only a sign that is the same for the same value.
  std::vector<std::pair<std::string, std::string>> attributes;
  bool allowed = true;
  Nanos wait{0};
  Permits cost{1};
  std::string allowed_by;  // a rule of an allow-list
  std::vector<Part> parts;
};

}  // namespace weir
