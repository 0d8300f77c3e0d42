// The commands about files of rules, which need no database: check, explain, convert.
#pragma once

#include <string>
#include <vector>

#include "server/streams.h"

namespace weir {

struct RuleFileOptions {
  std::vector<std::string> files;     // paths, or "-"
  std::vector<std::string> requests;  // of explain
  std::string to;                     // of convert
  bool json = false;
};

// Each returns the exit code.
int CheckRuleFiles(const RuleFileOptions& options, Streams io);
int ExplainRuleFile(const RuleFileOptions& options, Streams io);
int ConvertRuleFile(const RuleFileOptions& options, Streams io);

}  // namespace weir
