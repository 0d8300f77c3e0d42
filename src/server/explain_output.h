// What rules say to a request, for people and for programs.
#pragma once

#include <chrono>
#include <iosfwd>
#include <vector>

#include "rule/explain.h"
#include "rule/rule.h"
#include "server/request_text.h"

namespace weir {

struct ExplainedRequest {
  const rule::RuleSet* set = nullptr;
  const RequestAttributes* request = nullptr;
  std::vector<rule::Explanation> rules;
};

// REQUIRES: both outlive what is returned.
ExplainedRequest ExplainRequest(const rule::RuleSet& set, const RequestAttributes& request,
                                std::chrono::sys_seconds now);

void PrintText(const std::vector<ExplainedRequest>& explained, std::ostream& out);
void PrintJson(const std::vector<ExplainedRequest>& explained, std::ostream& out);

}  // namespace weir
