// The rules that files hold, ours or Envoy's: a namespace each.
#pragma once

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

// In the order of `files`, without those that have problems. A namespace that is in two files is a
// problem: which rules come first would be left to the files' names. `doubts`, if given, gets what
// is no problem and still no good.
std::vector<FileSet> ReadFileSets(const std::vector<RuleFile>& files, rule::Problems& problems,
                                  rule::Problems* doubts = nullptr);

}  // namespace weir::catalog
