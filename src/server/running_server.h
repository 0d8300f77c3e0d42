// The server as a value: its parts, from their wiring to their end.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/log.h"
#include "server/serve_options.h"
#include "weir/result.h"

namespace weir {

struct AdminParts;
struct MetricsSources;

class RunningServer {
 public:
  // Says why not, if it cannot start. What happens to its rules goes to `log`, if there is one,
  // which must outlive it.
  static Result<std::unique_ptr<RunningServer>> Start(const ServeOptions& options,
                                                      Log* log = nullptr);
  ~RunningServer();
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;

  // What is said on the terminal: where it listens, where its rules come from, what to try first.
  [[nodiscard]] std::string Banner() const;
  // "127.0.0.1:8080" or "tls:127.0.0.1:8443", with the port that was chosen; empty if it does not
  // listen there.
  [[nodiscard]] std::string http_address() const;
  [[nodiscard]] std::string resp_address() const;
  [[nodiscard]] std::string grpc_address() const;
  [[nodiscard]] std::string admin_address() const;

  // Reads again what it was told to read: rules, keys of clients, certificates. Returns what could
  // not be, of which the last good one stays. From any thread.
  std::vector<std::string> Reload();
  // Of the rules in force.
  [[nodiscard]] std::string rules_version() const;

  // Not ready any more, for gateways to turn to others; everything is still answered. How long that
  // should last is for whoever started it to say.
  void TurnAway();
  [[nodiscard]] Nanos drain_delay() const;
  // Turns away, and then requests under way are answered, for at most ten seconds.
  void Stop();

 private:
  struct Parts;
  static MetricsSources MetricsOf(const Parts& parts);
  static AdminParts AdminOf(const Parts& parts);
  explicit RunningServer(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

}  // namespace weir
