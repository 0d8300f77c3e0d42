#include "server/reference_commands.h"

#include <CLI/CLI.hpp>
#include <ostream>

#include "server/command_tree.h"
#include "server/completion.h"
#include "server/man_page.h"
#include "server/settings_output.h"

namespace weir {

ReferenceCommands::ReferenceCommands(CLI::App& app)
    : app_(&app),
      completion_(app.add_subcommand("completion", "Prints a script that completes commands")),
      man_(app.add_subcommand("man", "Prints the manual page weir(1)")) {
  completion_->add_option("SHELL", shell_, "For which shell: bash, zsh, fish")->required();
  man_->add_flag("--configuration", is_configuration_,
                 "The page of all settings instead, in Markdown");
}

bool ReferenceCommands::is_asked() const { return completion_->parsed() || man_->parsed(); }

int ReferenceCommands::Run(ServeCommand& serve, const std::string& version, Streams io) const {
  if (is_configuration_) {
    PrintReference(serve.Reference(), io.out);
    return kDone;
  }
  const Command root = CommandTree(*app_);
  if (man_->parsed()) {
    io.out << ManPage(root, version);
  } else if (shell_ == "bash") {
    io.out << BashCompletion(root);
  } else if (shell_ == "zsh") {
    io.out << ZshCompletion(root);
  } else if (shell_ == "fish") {
    io.out << FishCompletion(root);
  } else {
    io.err << "weir completion: there is bash, zsh and fish, got '" << shell_ << "'\n";
    return kUnreadable;
  }
  return kDone;
}

}  // namespace weir
