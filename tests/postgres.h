// A real PostgreSQL for tests: a server of its own in a temporary folder, on a free port of
// 127.0.0.1, gone with the process that started it, however that ends.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace weir {

class Postgres {
 public:
  enum class Sync {
    kOff,  // quick, for tests that do not pull the plug
    kOn,
  };

  // Starts a server, and ends the process with a message if there is none to start.
  explicit Postgres(Sync sync);
  ~Postgres();
  Postgres(const Postgres&) = delete;
  Postgres& operator=(const Postgres&) = delete;

  // One for all tests of this process that leave it running. Start it before any thread.
  static Postgres& Shared();

  // The URL of a new, empty database, with a password in it.
  std::string NewDatabase();

  void Start();
  // Ends all connections, then the server.
  void Stop();
  // `kill -9` of the server with all its processes.
  void Kill();

  static const char* password() { return "open.sesame"; }

 private:
  [[nodiscard]] std::string Url(const std::string& database) const;
  bool TryStart();

  Sync sync_;
  std::filesystem::path folder_;
  int port_ = 0;
  pid_t server_ = -1;
  pid_t guardian_ = -1;  // removes the folder when this process is gone
  int alive_ = -1;       // the guardian sees it closed
  int databases_ = 0;
};

}  // namespace weir
