// The bytes of the rule files at a path: of one file, or of all *.yaml and *.yml of a directory.
//
// What lies at a path is up to others: it may be a pipe, a device, a file that grows, or gone a
// moment later. Nothing here waits for such a thing or takes more memory than the limits say.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "rule/problem.h"

namespace weir::catalog {

struct RuleFileLimits {
  std::size_t file_bytes = std::size_t{32} << 20;
  std::size_t bytes_in_all = std::size_t{128} << 20;
  std::size_t files = 4096;
};

struct RuleFile {
  std::string name;  // as it is shown to people: the path that was given, and the file's in it
  std::string text;
};

struct RuleFiles {
  std::vector<RuleFile> files;  // ordered by name
  rule::Problems problems;      // what is there and cannot be read
  std::string away;             // not empty: there is nothing to read, and why
};

// Ends in .yaml or .yml, and is not hidden: editors and Kubernetes keep their own files under names
// that begin with a dot.
bool IsRuleFileName(std::string_view name);

// A directory without rule files counts as away: most likely it is a volume that is not mounted.
// Who wants no rules writes a file that says so.
RuleFiles ReadRuleFiles(const std::string& path, const RuleFileLimits& limits = {});

}  // namespace weir::catalog
