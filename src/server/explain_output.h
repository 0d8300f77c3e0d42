// What rules say to a request, for people and for programs.
#pragma once

#include <chrono>
#include <iosfwd>
#include <string>
#include <vector>

#include "rule/explain.h"
#include "rule/rule.h"
#include "server/request_text.h"

namespace weir {

// What one rule says, in words.
struct ExplainedRow {
  std::string answer;  // "applies", "no"
  std::string rule;
  std::string why;
  std::vector<std::string> keys;  // each with its limit
};
// The request and a table of rules.
void PrintExplained(const std::string& space, const RequestAttributes& request,
                    const std::vector<ExplainedRow>& rules, std::ostream& out);

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
