// `weir serve`: one process that answers every gateway in the protocol it speaks. This is its
// command line; what is made of it is in serve_loop.h.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "server/serve_options.h"
#include "server/settings.h"
#include "server/streams.h"
#include "weir/result.h"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace weir {

// All that a server was told, and by whom.
struct ServeTold {
  ServeOptions options;
  Settings settings;
  std::vector<std::string> notes;  // for people: what was said and changes nothing
};

class ServeCommand {
 public:
  ServeCommand(CLI::App& app, const std::string& version);
  [[nodiscard]] bool is_asked() const;

  // Serves until SIGTERM or SIGINT. `arguments` are those that were parsed: on SIGHUP they are read
  // again, with the environment and the configuration file.
  int Run(const std::vector<std::string>& arguments, Streams io);

  // What the options say about themselves, for reference pages.
  [[nodiscard]] Settings Reference();

 private:
  // What command line, environment and file say together. The error has a line for each problem.
  Result<ServeTold> Told(const std::map<std::string, std::string>& variables);
  static Result<ServeTold> ReadAgain(std::vector<std::string> arguments,
                                     const std::string& version);

  CLI::App* command_;
  ServeOptions options_;
  std::string config_;
  bool is_check_ = false;
  bool is_print_ = false;
  bool ratelimit_environment_ = false;
};

}  // namespace weir
