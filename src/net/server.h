// Loops on threads of their own, and the places they listen on.
//
//   auto server = net::Server::Start({.loops = 4}, {{.address = "[::]:8080", .handlers = ...}});
//   ...
//   (*server)->Stop(std::chrono::seconds(10));
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "net/admission.h"
#include "net/companion.h"
#include "net/counters.h"
#include "net/endpoint.h"
#include "net/limits.h"
#include "net/listener_options.h"
#include "net/loop.h"
#include "net/worker.h"
#include "weir/result.h"
#include "weir/units.h"

namespace weir::net {

struct ServerOptions {
  enum class Pinning : std::uint8_t { kNone, kOneCoreEach };

  std::size_t loops = 1;
  Pinning pinning = Pinning::kNone;
  AdmissionLimits admission = {};
  Loop::TimeSource time = Clock::now;  // called by all loops at once
  // Makes what else each loop is to have, before it runs. It ends after the loop's connections.
  std::function<std::unique_ptr<Companion>(Loop& loop)> companion = {};
};

// Thread safety: Start(), TellNews() and Stop() by one thread, totals() by any.
class Server {
 public:
  // Listens on all of them, or says why not. Handlers are called from now on.
  static Result<std::unique_ptr<Server>> Start(const ServerOptions& options,
                                               std::vector<ListenerOptions> listeners);
  ~Server();  // stops at once
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Where it listens, in the order of the listeners, with the ports that were chosen.
  [[nodiscard]] const std::vector<Endpoint>& endpoints() const { return endpoints_; }

  // Lets the handlers of all connections say what is new (Handler::OnNews). Returns at once.
  void TellNews();

  // Accepts no more, closes what is idle, lets what has begun be finished for at most `drain`,
  // closes the rest, and returns when all is over. Only the first call counts.
  void Stop(Nanos drain);

  // Also after Stop().
  [[nodiscard]] Totals totals() const;

 private:
  Server(const ServerOptions& options, std::vector<ListenerOptions> listeners);
  // The error, if there is one.
  std::optional<Error> Listen();
  void StartThreads(ServerOptions::Pinning pinning);

  std::vector<ListenerOptions> listeners_;  // does not change: connections refer to it
  Admission admission_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Endpoint> endpoints_;
  std::vector<std::jthread> threads_;
};

}  // namespace weir::net
