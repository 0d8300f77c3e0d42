// `weir serve`: one process that answers every gateway in the protocol it speaks.
#pragma once

#include <string>

#include "server/serve_options.h"
#include "server/streams.h"
#include "weir/result.h"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace weir {

class ServeCommand {
 public:
  ServeCommand(CLI::App& app, const std::string& version);
  [[nodiscard]] bool is_asked() const;
  // Serves until SIGTERM or SIGINT.
  int Run(Streams io) const;

 private:
  // With what the environment says, if that is to be read.
  [[nodiscard]] Result<ServeOptions> Options(Streams io) const;

  CLI::App* command_;
  ServeOptions options_;
  bool ratelimit_environment_ = false;
};

}  // namespace weir
