#include "catalog/file_sets.h"

#include <map>
#include <optional>
#include <utility>

#include "rule/any_file.h"

namespace weir::catalog {

std::vector<FileSet> ReadFileSets(const std::vector<RuleFile>& files, rule::Problems& problems,
                                  rule::Problems* doubts) {
  std::vector<FileSet> sets;
  std::map<std::string, std::string> files_of_spaces;
  for (const RuleFile& file : files) {
    std::optional<rule::RuleSet> set = rule::ReadAnyRules(file.text, file.name, problems, doubts);
    if (!set) continue;
    const auto [other, is_new] = files_of_spaces.emplace(set->space, file.name);
    if (!is_new) {
      problems.push_back(
          {file.name,
           {},
           "",
           "the rules of namespace '" + set->space + "' are in " + other->second + " already",
           "put all rules of a namespace into one file"});
    }
    sets.push_back({file.name, std::move(*set)});
  }
  return sets;
}

}  // namespace weir::catalog
