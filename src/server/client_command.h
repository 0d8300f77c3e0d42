// The command line of the commands that ask a running server: status, explain, keys, top,
// decisions, audit.
#pragma once

#include <functional>

#include "server/client_commands.h"
#include "server/streams.h"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace weir {

class ClientCommand {
 public:
  // REQUIRES: `app` outlives this.
  explicit ClientCommand(CLI::App& app);
  ClientCommand(const ClientCommand&) = delete;
  ClientCommand& operator=(const ClientCommand&) = delete;

  [[nodiscard]] bool is_asked() const { return chosen_ != nullptr; }
  int Run(Streams io) const { return chosen_(io); }

 private:
  CLI::App* Add(CLI::App& app, const char* name, const char* description,
                int (*command)(const ClientQuestion&, Streams));
  void AddKeys(CLI::App& app);
  void AddMost(CLI::App& command);

  ClientQuestion question_;
  std::function<int(Streams)> chosen_;
};

}  // namespace weir
