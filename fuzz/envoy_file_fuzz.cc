// Any text as a file of envoyproxy/ratelimit: what is read can be written as rules of ours and
// reads back as the same, every rule is found by the entries it was made of, and what is refused is
// refused with a reason.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "rule/descriptor_tree.h"
#include "rule/envoy_file.h"
#include "rule/rule_file.h"
#include "rule/rule_writer.h"

namespace {

using weir::rule::DescriptorMatch;

void FindEveryRule(const weir::rule::RuleSet& set) {
  const weir::rule::DescriptorTree tree(set.rules);
  std::vector<std::string_view> key;
  std::vector<DescriptorMatch> found;
  for (std::uint32_t i = 0; i < set.rules.size(); ++i) {
    std::vector<weir::rule::RequestEntry> request;
    bool has_values = true;
    for (const auto& entry : set.rules[i].descriptor->entries) {
      request.push_back({entry.key, entry.value});
      has_values = has_values && !entry.value.empty();
    }
    found.push_back(tree.Find(request, key));
    // Without a value there may be something that says more about an empty one.
    if (!has_values) continue;
    if (found.back().rule != i || found.back().kind == DescriptorMatch::Kind::kNothing)
      std::abort();
  }
  tree.Replace(found);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  weir::rule::Problems problems;
  weir::rule::Problems doubts;
  auto set = weir::rule::ReadEnvoyRules(text, "fuzz", problems, &doubts);
  if (!set) {
    if (problems.empty()) std::abort();
    for (const auto& problem : problems) {
      if (problem.what.empty()) std::abort();
    }
    return 0;
  }
  if (!problems.empty() || set->space.empty()) std::abort();
  FindEveryRule(*set);
  set->space = "fuzz";  // a domain is any text, a namespace is a name
  const auto again = weir::rule::ReadRules(weir::rule::WriteRules(*set), "again", problems);
  // Longer texts and longer lists than rules of ours may hold are the only reason.
  if (again ? *again != *set : size < 500) std::abort();
  return 0;
}
