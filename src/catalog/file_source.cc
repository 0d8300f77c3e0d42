#include "catalog/file_source.h"

#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "catalog/digest.h"
#include "catalog/rule_files.h"

namespace weir::catalog {
namespace {

// Of names and texts, and of what could not be read, so that the same trouble is told once.
std::string DigestOfFiles(const RuleFiles& found) {
  std::vector<std::string_view> pieces;
  std::vector<std::string> troubles;
  for (const RuleFile& file : found.files) pieces.insert(pieces.end(), {file.name, file.text});
  for (const rule::Problem& problem : found.problems) troubles.push_back(problem.ToString());
  pieces.insert(pieces.end(), troubles.begin(), troubles.end());
  return DigestOf(pieces);
}

}  // namespace

FileSource::FileSource(std::string path, const FileWatchOptions& options, SameSpace same_space,
                       rule::Sharing envoys)
    : path_(std::move(path)), same_space_(same_space), envoys_(envoys), watch_(path_, options) {}

Retrieved FileSource::Look() {
  RuleFiles files = ReadRuleFiles(path_);
  Retrieved found;
  if (!files.away.empty()) {
    found.outcome = Retrieved::Outcome::kAway;
    found.away = std::move(files.away);
    return found;
  }
  found.version = DigestOfFiles(files);
  if (found.version == seen_) return {};
  found.problems = std::move(files.problems);
  for (FileSet& read : ReadFileSets(files.files, found.problems, nullptr, same_space_, envoys_)) {
    found.sets.push_back(std::move(read.set));
  }
  found.outcome = found.problems.empty() ? Retrieved::Outcome::kRules : Retrieved::Outcome::kBad;
  if (!found.problems.empty()) found.sets.clear();
  seen_ = found.version;
  return found;
}

std::string FileSource::Describe() const {
  std::error_code ignored;
  return (std::filesystem::is_directory(path_, ignored) ? "the directory " : "the file ") + path_;
}

}  // namespace weir::catalog
