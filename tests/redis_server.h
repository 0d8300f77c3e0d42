// A real Redis for tests: a process of its own in a temporary folder, on a free port of 127.0.0.1,
// gone with the process that started it.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "net/endpoint.h"
#include "tests/blocking_client.h"
#include "tests/temporary_file.h"

namespace weir {

class RedisServer {
 public:
  // Starts it, and ends the process with a message if there is none to start. `options` are words
  // of its command line: {"--requirepass", "secret"}.
  explicit RedisServer(std::vector<std::string> options = {});
  ~RedisServer();
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  void Start();  // again, on the same port
  void Kill();   // `kill -9`: what it held is lost
  void Pause();  // it takes connections and bytes, and does nothing with them
  void Continue();

  [[nodiscard]] net::Endpoint endpoint() const { return {"127.0.0.1", port_, ""}; }
  [[nodiscard]] bool is_running() const { return process_ > 0; }

  // Says a command and waits for the answer, whose parts are joined by spaces: "OK", "1 2 3". Over
  // a connection of its own; empty if there is none.
  std::string Ask(const std::vector<std::string>& words);

 private:
  bool TryStart();

  std::vector<std::string> options_;
  TemporaryFile files_;
  std::uint16_t port_ = 0;
  pid_t process_ = -1;
};

// The same for any server: of what Ask() makes one text.
std::string AskRedis(const net::Endpoint& endpoint, const std::vector<std::string>& words);

}  // namespace weir
