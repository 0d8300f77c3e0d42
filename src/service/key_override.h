// Another allowance for one client, for a while: an override of its rule, written for the operator.
//
// It is a rule like any other, so it has a history, survives the process and can be rolled back. On
// the way, overrides whose time is over are cleared away: nobody else ever would.
#pragma once

#include <chrono>
#include <span>

#include "rule/attribute.h"
#include "rule/rule.h"
#include "weir/result.h"

namespace weir {

struct KeyOverride {
  std::span<const rule::Attribute> attributes;  // some of those that the rule counts by
  rule::Allowance allowance;
  std::chrono::sys_seconds until;
};

// The rule with the override in front of all others, in the place of an earlier one for the same
// client. The error says why there can be none.
Result<rule::Rule> WithOverride(rule::Rule rule, const KeyOverride& added,
                                std::chrono::sys_seconds now);

// The rule without the override for this client; an error if there is none.
Result<rule::Rule> WithoutOverride(rule::Rule rule, std::span<const rule::Attribute> attributes,
                                   std::chrono::sys_seconds now);

}  // namespace weir
