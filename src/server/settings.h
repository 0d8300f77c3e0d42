// What a command was told, and by whom: the command line, else the environment, else the
// configuration file, else its defaults.
//
// Every option of a command takes part without being asked: `--max-keys` is WEIR_MAX_KEYS in the
// environment and `max-keys` in the file. Only those that are not configurable() stay on the
// command line.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rule/problem.h"
#include "server/configuration_file.h"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace weir {

struct Setting {
  enum class Kind : unsigned char { kValue, kList, kFlag };
  // In the order of what counts less to what counts more.
  enum class Origin : unsigned char { kDefault, kFile, kVariable, kCommandLine };

  std::string name;  // "max-keys"
  Kind kind = Kind::kValue;
  std::vector<std::string> values;  // one, but for a list
  Origin origin = Origin::kDefault;
  std::string place;  // "weir.yaml:3:11", "WEIR_MAX_KEYS", "--max-keys"; empty: the default

  // What it means, and by default. For reference pages.
  std::string meaning;
  std::string group;  // "Connections"; empty: none
  std::vector<std::string> defaults;

  bool operator==(const Setting&) const = default;
};
using Settings = std::vector<Setting>;  // in the order of the options

// "WEIR_MAX_KEYS"
std::string VariableOf(std::string_view name);

// Gives the options of `command`, which has parsed its command line, what the environment and the
// file say where that did not. A variable that is empty counts as not set; the values of a list
// stand in it with commas between them. Of two options that exclude each other the one that was
// said in the place that counts more is taken. Everything that is wrong is added to `problems`.
Settings Complete(CLI::App& command, const ConfigurationFile& file,
                  const std::map<std::string, std::string>& variables, rule::Problems& problems);

// A message about an option, "--idle-timeout: expected ...", with the place that said it in front
// if that was not the command line.
std::string Locate(const Settings& settings, const std::string& message);

// The names of those whose values differ.
std::vector<std::string> Changed(const Settings& before, const Settings& after);

}  // namespace weir
