#include "server/configuration_file.h"

#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>

#include "rule/yaml.h"

namespace weir {
namespace {

using rule::Problems;
using rule::YamlNode;

// Whole pages of options have some hundred values.
constexpr rule::YamlLimits kLimits{.bytes = std::size_t{1} << 20, .nodes = 100'000, .depth = 8};

bool Take(const YamlNode& node, ConfigurationEntry& entry, const std::string& path,
          Problems& problems) {
  if (node.kind == YamlNode::Kind::kScalar) {
    entry.values.push_back(node.scalar);
    return true;
  }
  problems.push_back({path, node.place, "",
                      entry.name + ": expected a value, got " + node.Describe(),
                      "write " + entry.name + ": '' for an empty one, or leave it out"});
  return false;
}

}  // namespace

ConfigurationFile ReadConfiguration(const std::string& path, std::string_view text,
                                    Problems& problems) {
  ConfigurationFile file{path, {}};
  YamlNode root;
  if (!rule::ReadYaml(text, path, root, problems, kLimits)) return file;
  if (root.kind == YamlNode::Kind::kNull) return file;
  if (root.kind != YamlNode::Kind::kMap) {
    problems.push_back({path, root.place, "", "expected names and values, got " + root.Describe(),
                        "write http: 127.0.0.1:8080 and the like, an option on each line"});
    return file;
  }
  for (const YamlNode::Entry& pair : root.map) {
    ConfigurationEntry entry{pair.key, pair.place, {}, false, pair.value.place};
    bool is_right = true;
    if (pair.value.kind == YamlNode::Kind::kList) {
      entry.is_list = true;
      for (const YamlNode& one : pair.value.list) {
        is_right = Take(one, entry, path, problems) && is_right;
      }
    } else {
      is_right = Take(pair.value, entry, path, problems);
    }
    if (is_right) file.entries.push_back(std::move(entry));
  }
  return file;
}

ConfigurationFile ReadConfigurationFile(const std::string& path, Problems& problems) {
  std::ifstream file(path, std::ios::binary);
  // A directory can be opened, and not read; an empty file is one too.
  if (!file || (file.peek() == std::ifstream::traits_type::eof() && file.bad())) {
    problems.push_back(
        {path,
         {},
         "",
         "cannot be read: " + std::error_code(errno, std::generic_category()).message(),
         "correct --config, or leave it out"});
    return {path, {}};
  }
  std::stringstream text;
  text << file.rdbuf();
  return ReadConfiguration(path, text.str(), problems);
}

}  // namespace weir
