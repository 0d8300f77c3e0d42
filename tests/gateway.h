// Real gateways for tests: nginx and HAProxy as the system has them, with the configuration that
// our documentation prints. A page that loses its configuration, or prints one that does not work,
// fails the tests.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace weir {

// The code block of a page ("docs/gateways/nginx.md") whose first line is `first`. Ends the process
// with a message if there is none.
std::string PageBlock(const std::string& page, const std::string& first);

// `text` with every first replaced by its second: ports and paths of the page by those of the test.
// Ends the process with a message if one of them does not occur.
std::string Adapted(std::string text,
                    const std::vector<std::pair<std::string, std::string>>& changes);

// Where Debian has a server's program, which need not be in PATH; otherwise the name.
std::string ProgramNamed(const std::string& name);

// A port of 127.0.0.1 that nobody has at the moment.
int FreePort();

// A program that listens on a port, gone with this object or with the process that made it.
class Gateway {
 public:
  // Starts `command` and waits until the port of 127.0.0.1 takes connections. What the program says
  // goes to `log`. See is_running() for whether that went well.
  Gateway(const std::vector<std::string>& command, int port, std::filesystem::path log);
  ~Gateway();
  Gateway(const Gateway&) = delete;
  Gateway& operator=(const Gateway&) = delete;

  [[nodiscard]] bool is_running() const { return child_ > 0; }
  [[nodiscard]] int port() const { return port_; }
  // All that it said so far, to be shown when a test fails.
  [[nodiscard]] std::string log() const;

 private:
  [[nodiscard]] bool WaitUntilItListens();

  pid_t child_ = -1;
  int port_;
  std::filesystem::path log_;
};

}  // namespace weir
