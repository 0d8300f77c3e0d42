#include "server/command_tree.h"

#include <CLI/CLI.hpp>

namespace weir {
namespace {

CommandOption OptionOf(const CLI::Option& option) {
  CommandOption result;
  for (const std::string& name : option.get_snames()) result.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) result.names.push_back("--" + name);
  if (result.names.empty()) result.names.push_back(option.get_name());
  if (option.get_items_expected_max() > 0) {
    // "UINT:INT in [1 - 8]": the range is part of the type there.
    const std::string type = option.get_type_name();
    result.value = type.empty() ? "TEXT" : type.substr(0, type.find(':'));
  }
  result.is_list = option.get_items_expected_max() > 1;
  result.meaning = option.get_description();
  result.by_default = option.get_default_str();
  if (option.get_group() != "Options") result.group = option.get_group();
  return result;
}

Command CommandOf(CLI::App& app, const std::string& above) {
  Command command;
  command.name = app.get_name();
  command.path = above.empty() ? command.name : above + " " + command.name;
  command.meaning = app.get_description();
  command.footer = app.get_footer();
  for (const CLI::Option* option : app.get_options()) {
    const bool is_argument = option->get_lnames().empty() && option->get_snames().empty();
    (is_argument ? command.arguments : command.options).push_back(OptionOf(*option));
  }
  for (CLI::App* below : app.get_subcommands([](const CLI::App*) { return true; })) {
    command.commands.push_back(CommandOf(*below, command.path));
  }
  return command;
}

void Collect(const Command& command, std::vector<const Command*>& all) {
  all.push_back(&command);
  for (const Command& below : command.commands) Collect(below, all);
}

}  // namespace

Command CommandTree(CLI::App& app) { return CommandOf(app, ""); }

std::vector<const Command*> Flatten(const Command& root) {
  std::vector<const Command*> all;
  Collect(root, all);
  return all;
}

}  // namespace weir
