// What the program knows about itself, for whoever installs it: `weir completion` and `weir man`.
#pragma once

#include <string>

#include "server/serve_command.h"
#include "server/streams.h"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace weir {

class ReferenceCommands {
 public:
  explicit ReferenceCommands(CLI::App& app);
  [[nodiscard]] bool is_asked() const;
  // `serve` has the options of the configuration.
  int Run(ServeCommand& serve, const std::string& version, Streams io) const;

 private:
  CLI::App* app_;
  CLI::App* completion_;
  CLI::App* man_;
  std::string shell_;
  bool is_configuration_ = false;
};

}  // namespace weir
