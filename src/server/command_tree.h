// The commands of the program as a plain value, read from the command line parser: what completion
// scripts and manual pages are made from, so that they know every option there is.
#pragma once

#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace weir {

struct CommandOption {
  std::vector<std::string> names;  // "--author", "-a"; of an argument its name, "FILE"
  std::string value;               // what follows it, "TEXT"; empty: nothing, it is a flag
  bool is_list = false;
  std::string meaning;
  std::string by_default;  // empty: nothing
  std::string group;       // "Connections"; empty: none
};

struct Command {
  std::string path;  // "weir rules check"
  std::string name;  // "check"
  std::string meaning;
  std::string footer;
  std::vector<CommandOption> arguments;  // by position
  std::vector<CommandOption> options;
  std::vector<Command> commands;
};

Command CommandTree(CLI::App& app);

// The command and all below it, each before its own.
std::vector<const Command*> Flatten(const Command& root);

}  // namespace weir
