// `weir serve`: one process that answers every gateway in the protocol it speaks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "frontend/should_rate_limit.h"
#include "server/connection_options.h"
#include "server/identity_options.h"
#include "server/streams.h"
#include "weir/result.h"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace weir {

struct MetricsSources;

struct ServeOptions {
  std::string http = "127.0.0.1:8080";  // see net/endpoint.h; empty: not at all
  std::string resp = "127.0.0.1:6380";
  std::string grpc = "127.0.0.1:8081";
  std::string rules;                 // a file or a directory; empty: the database
  std::string database;              // empty: weir.db in the folder of the state
  std::string state = "weir-state";  // a folder; "memory": nothing survives the process
  std::uint64_t max_keys = 1'000'000;
  std::size_t threads = 0;  // 0: one per core
  std::string space = "default";
  std::string fields = "draft-10";
  std::string password;
  std::string version;               // of the program, to be told
  bool merge_domains = false;        // descriptors of one domain may be in several files
  RateLimitOptions rate_limit = {};  // how Envoy is answered
  IdentityOptions clients;
  ConnectionOptions connections;
};

// A running server, from its wiring to its end.
class RunningServer {
 public:
  // Says why not, if it cannot start.
  static Result<std::unique_ptr<RunningServer>> Start(const ServeOptions& options);
  ~RunningServer();
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;

  // What is said on the terminal: where it listens, where its rules come from, what to try first.
  [[nodiscard]] std::string Banner() const;
  // "127.0.0.1:8080", with the port that was chosen; empty if it does not listen there.
  [[nodiscard]] std::string http_address() const;
  [[nodiscard]] std::string resp_address() const;
  [[nodiscard]] std::string grpc_address() const;

  // Readiness goes first, then requests under way are answered, for at most ten seconds.
  void Stop();

 private:
  struct Parts;
  static MetricsSources MetricsOf(const Parts& parts);
  explicit RunningServer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

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
