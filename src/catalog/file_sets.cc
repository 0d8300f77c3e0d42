#include "catalog/file_sets.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "rule/any_file.h"
#include "rule/descriptor_tree.h"

namespace weir::catalog {
namespace {

bool HasDescriptor(const rule::Rule& rule) { return rule.descriptor.has_value(); }

// The first rule of `more` that stands where one of `set` does already; null if they go together.
const rule::Rule* FindOverlap(const rule::RuleSet& set, const rule::RuleSet& more) {
  std::set<std::string> names;
  std::set<std::string> places;
  for (const rule::Rule& rule : set.rules) {
    names.insert(rule.name);
    places.insert(Composite(rule.descriptor->entries[0]));
  }
  const auto overlap =
      std::find_if(more.rules.begin(), more.rules.end(), [&](const rule::Rule& rule) {
        return names.contains(rule.name) || places.contains(Composite(rule.descriptor->entries[0]));
      });
  return overlap != more.rules.end() ? &*overlap : nullptr;
}

void Merge(rule::RuleSet more, const std::string& file, FileSet& into, rule::Problems& problems) {
  const auto all_have_descriptors = [](const rule::RuleSet& set) {
    return std::all_of(set.rules.begin(), set.rules.end(), HasDescriptor);
  };
  if (!all_have_descriptors(more) || !all_have_descriptors(into.set)) {
    problems.push_back({file,
                        {},
                        "",
                        "the rules of namespace '" + more.space + "' are in " + into.file +
                            " already, and only rules with descriptors can be put together",
                        "put all rules of a namespace into one file"});
    return;
  }
  if (const rule::Rule* overlap = FindOverlap(into.set, more)) {
    const std::string place = more.space + "." + Composite(overlap->descriptor->entries[0]);
    problems.push_back(
        {file,
         {},
         overlap->name,
         "duplicate descriptor composite key '" + place + "': it is in " + into.file + " too",
         "put all that lies below a descriptor into one file"});
    return;
  }
  std::move(more.rules.begin(), more.rules.end(), std::back_inserter(into.set.rules));
}

}  // namespace

std::vector<FileSet> ReadFileSets(const std::vector<RuleFile>& files, rule::Problems& problems,
                                  rule::Problems* doubts, SameSpace same_space,
                                  rule::Sharing envoys) {
  std::vector<FileSet> sets;
  std::map<std::string, std::size_t> known;  // where the rules of a namespace are in `sets`
  for (const RuleFile& file : files) {
    std::optional<rule::RuleSet> set =
        rule::ReadAnyRules(file.text, file.name, problems, doubts, envoys);
    if (!set) continue;
    const auto [other, is_new] = known.emplace(set->space, sets.size());
    if (!is_new && same_space == SameSpace::kMerged) {
      Merge(std::move(*set), file.name, sets[other->second], problems);
      continue;
    }
    if (!is_new) {
      problems.push_back({file.name,
                          {},
                          "",
                          "the rules of namespace '" + set->space + "' are in " +
                              sets[other->second].file + " already",
                          "put all rules of a namespace into one file"});
    }
    sets.push_back({file.name, std::move(*set)});
  }
  return sets;
}

}  // namespace weir::catalog
