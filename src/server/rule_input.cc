#include "server/rule_input.h"

#include <istream>
#include <ostream>
#include <utility>

namespace weir {
namespace {

// False if there is more than a file may have.
bool ReadAll(std::istream& in, std::size_t most, std::string& text) {
  char buffer[65536];
  while (in.read(buffer, sizeof buffer), in.gcount() > 0) {
    text.append(buffer, static_cast<std::size_t>(in.gcount()));
    if (text.size() > most) return false;
  }
  return true;
}

}  // namespace

bool ReadInput(const std::string& path, std::istream& in, std::ostream& err,
               std::vector<catalog::RuleFile>& files) {
  if (path == "-") {
    const std::size_t most = catalog::RuleFileLimits().file_bytes;
    catalog::RuleFile file{"stdin", ""};
    const bool whole = ReadAll(in, most, file.text);
    if (!whole) err << "stdin: there are more than " << most << " bytes; split the rules\n";
    files.push_back(std::move(file));
    return whole;
  }
  catalog::RuleFiles found = catalog::ReadRuleFiles(path);
  if (!found.away.empty()) err << found.away << "\n";
  for (const rule::Problem& problem : found.problems) err << problem.ToString() << "\n";
  for (catalog::RuleFile& file : found.files) files.push_back(std::move(file));
  return found.away.empty() && found.problems.empty();
}

}  // namespace weir
