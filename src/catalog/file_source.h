// Rules from a file, or from all rule files of a directory (rule_files.h says which those are).
//
// Each file is of one namespace, written as docs/rules.md says or as Envoy's rate limit service
// reads it, and a namespace is in one file, unless files are to be merged (file_sets.h). `envoys`:
// how a cluster shares the limits of the latter.
#pragma once

#include <chrono>
#include <string>

#include "catalog/file_sets.h"
#include "catalog/file_watch.h"
#include "catalog/rule_source.h"

namespace weir::catalog {

// Whether anything changed is told by a digest of all bytes: always right, and cheap beside reading
// the rules. A file that is gone or cannot be read is away; one that makes no sense is bad. Either
// way nothing changes, not even the namespaces of the files beside it.
class FileSource final : public RuleSource {
 public:
  explicit FileSource(std::string path, const FileWatchOptions& options = {},
                      SameSpace same_space = SameSpace::kRefused,
                      rule::Sharing envoys = rule::Sharing::kNone);

  Retrieved Look() override;
  void Wait(std::chrono::milliseconds timeout) override { watch_.Wait(timeout); }
  void Wake() override { watch_.Wake(); }
  [[nodiscard]] std::string Describe() const override;

 private:
  std::string path_;
  SameSpace same_space_;
  rule::Sharing envoys_;
  FileWatch watch_;
  std::string seen_;  // the digest of what the last look saw, of use or not
};

}  // namespace weir::catalog
