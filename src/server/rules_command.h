// The command line of `weir rules ...`.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "server/rule_file_commands.h"
#include "server/stored_rules_commands.h"
#include "server/streams.h"

namespace weir {

class RulesCommand {
 public:
  // Adds it to the program's. REQUIRES: `app` outlives this.
  explicit RulesCommand(CLI::App& app);
  RulesCommand(const RulesCommand&) = delete;
  RulesCommand& operator=(const RulesCommand&) = delete;

  // REQUIRES: the command line has been parsed, and is one of ours. Returns the exit code.
  int Run(Streams io) const { return chosen_(io); }

 private:
  void AddFileCommands(CLI::App& rules);
  void AddReaders(CLI::App& rules);
  void AddEditors(CLI::App& rules);
  // A command that needs the database.
  CLI::App* AddStored(CLI::App& rules, const char* name, const char* description,
                      int (*command)(const StoredRulesOptions&, Streams));
  void AddAuthorship(CLI::App& command);

  RuleFileOptions file_;
  StoredRulesOptions stored_;
  std::function<int(Streams)> chosen_;
};

}  // namespace weir
