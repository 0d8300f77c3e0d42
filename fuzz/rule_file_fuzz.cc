// Any bytes as a file of rules: everything wrong has a place in the text, and what can be read is
// written in a way that reads as the same rules.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "rule/rule_file.h"
#include "rule/rule_writer.h"
#include "rule/utf8.h"

namespace {

using weir::rule::Problem;
using weir::rule::Problems;

// At its end, or one line behind it, counts as in the text: that is where something is missing.
bool IsWithin(std::string_view text, const weir::rule::Place& place) {
  const auto lines = std::count(text.begin(), text.end(), '\n') + 1;
  return place.line >= 1 && place.line <= lines && place.column >= 1 &&
         static_cast<std::size_t>(place.column) <= text.size() + 1;
}

void CheckProblems(std::string_view text, const Problems& problems) {
  if (problems.empty()) std::abort();
  for (const Problem& problem : problems) {
    if (problem.what.empty() || !IsWithin(text, problem.place)) std::abort();
    // What is printed is text, whatever was read.
    if (weir::rule::FirstInvalidUtf8(problem.ToString()) != std::string_view::npos) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Problems problems;
  const auto rules = weir::rule::ReadRules(text, "fuzz", problems);
  if (rules) {
    if (!problems.empty()) std::abort();
    const std::string written = weir::rule::WriteRules(*rules);
    const auto again = weir::rule::ReadRules(written, "written", problems);
    if (!again || *again != *rules || weir::rule::WriteRules(*again) != written) std::abort();
  } else {
    CheckProblems(text, problems);
  }
  problems.clear();
  const auto rule = weir::rule::ReadRule(text, "fuzz", problems);
  if (!rule) {
    CheckProblems(text, problems);
    return 0;
  }
  const std::string written = weir::rule::WriteRule(*rule);
  const auto again = weir::rule::ReadRule(written, "written", problems);
  if (!again || *again != *rule) std::abort();
  return 0;
}
