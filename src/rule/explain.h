// Why a rule applies to a request, or does not: for people who wonder.
//
// It reads the rules as they were written and tries one after the other, so it can say what a
// decision never needs to know: the first condition that did not hold.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rule/attribute.h"
#include "rule/rule.h"

namespace weir::rule {

// A counter that the request would be counted in.
struct ExplainedKey {
  std::string key;        // "ip=2001:db8::/64 user=ann", or "all requests"
  std::string allowance;  // "token_bucket 10/1s burst 20 + fixed_window 5000/1h", "unlimited", ...
};

struct Explanation {
  const Rule* rule = nullptr;
  bool applies = false;
  // What the answer hangs on: "path is '/logout', not '/login'", "there is no user to count by",
  // "all conditions hold".
  std::string why;
  std::vector<ExplainedKey> keys;  // if it applies
};

// One for each rule, in their order. If the namespace has rules with descriptors, the attributes
// are also taken, in the order given, for the entries of one. `now` tells which rules have expired.
std::vector<Explanation> Explain(const RuleSet& set, std::span<const Attribute> attributes,
                                 std::chrono::sys_seconds now);

// "10.0.0.0/8", "/api/**", "one of pro, team": for messages.
std::string Describe(const Condition& condition);

}  // namespace weir::rule
