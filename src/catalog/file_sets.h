// The rules that files hold, ours or Envoy's: a namespace each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "catalog/rule_files.h"
#include "rule/problem.h"
#include "rule/rule.h"

namespace weir::catalog {

struct FileSet {
  std::string file;
  rule::RuleSet set;
};

// What becomes of a namespace that is in two files.
enum class SameSpace : std::uint8_t {
  kRefused,  // which rules come first would be left to the files' names
  // Descriptors of one domain are put together, as envoyproxy/ratelimit does with
  // MERGE_DOMAIN_CONFIG: their order does not matter, as long as none is in both.
  kMerged,
};

// In the order of `files`, without those that have problems. `doubts`, if given, gets what is no
// problem and still no good. `envoys`: as in rule::ReadAnyRules.
std::vector<FileSet> ReadFileSets(const std::vector<RuleFile>& files, rule::Problems& problems,
                                  rule::Problems* doubts = nullptr,
                                  SameSpace same_space = SameSpace::kRefused,
                                  rule::Sharing envoys = rule::Sharing::kNone);

}  // namespace weir::catalog
