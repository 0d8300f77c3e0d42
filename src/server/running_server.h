// The server as a value: its parts, from their wiring to their end.
#pragma once

#include <memory>
#include <string>

#include "server/serve_options.h"
#include "weir/result.h"

namespace weir {

struct AdminParts;
struct MetricsSources;

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
  [[nodiscard]] std::string admin_address() const;

  // Readiness goes first, then requests under way are answered, for at most ten seconds.
  void Stop();

 private:
  struct Parts;
  static MetricsSources MetricsOf(const Parts& parts);
  static AdminParts AdminOf(const Parts& parts);
  explicit RunningServer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace weir
