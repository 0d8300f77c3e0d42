#include "net/server.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "net/listening_socket.h"

namespace weir::net {
namespace {

std::vector<int> AllowedCores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  std::vector<int> cores;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &allowed)) cores.push_back(core);
  }
  return cores;
}

void PinTo(int core) {
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(core, &only);
  pthread_setaffinity_np(pthread_self(), sizeof only, &only);  // slower without it, not wrong
}

// Signals are for the main thread.
void BlockSignals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

}  // namespace

Server::Server(const ServerOptions& options, std::vector<ListenerOptions> listeners)
    : listeners_(std::move(listeners)), admission_(options.admission) {
  for (std::size_t i = 0; i < options.loops; ++i) {
    workers_.push_back(std::make_unique<Worker>(admission_, options.time, i));
    if (options.companion) workers_[i]->Keep(options.companion(workers_[i]->loop()));
  }
}

Server::~Server() { Stop(Nanos(0)); }

Result<std::unique_ptr<Server>> Server::Start(const ServerOptions& options,
                                              std::vector<ListenerOptions> listeners) {
  if (options.loops == 0) return Error{"a server needs at least one loop"};
  try {
    std::unique_ptr<Server> server(new Server(options, std::move(listeners)));
    if (std::optional<Error> error = server->Listen()) return *std::move(error);
    server->StartThreads(options.pinning);
    return server;
  } catch (const std::system_error& error) {
    return Error{std::string("cannot start the server: ") + error.what() +
                 "; the limit of open files (ulimit -n) or of threads may be too low"};
  }
}

std::optional<Error> Server::Listen() {
  for (ListenerOptions& listener : listeners_) {
    const Result<Endpoint> endpoint = Endpoint::Parse(listener.address);
    if (!endpoint.ok()) return endpoint.error();
    if (!endpoint->tls) listener.tls = nullptr;
    if (endpoint->tls && listener.tls == nullptr) {
      return Error{listener.address + ": cannot listen with TLS without a certificate"};
    }
    const auto sockets = ListeningSocket::Open(
        *endpoint, workers_.size(), {.backlog = listener.backlog, .unix_mode = listener.unix_mode});
    if (!sockets.ok()) return sockets.error();
    for (std::size_t i = 0; i < workers_.size(); ++i) workers_[i]->Listen((*sockets)[i], listener);
    endpoints_.push_back(sockets->front()->endpoint());
  }
  return std::nullopt;
}

void Server::StartThreads(ServerOptions::Pinning pinning) {
  std::vector<int> cores;
  if (pinning == ServerOptions::Pinning::kOneCoreEach) cores = AllowedCores();
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    const std::optional<int> core =
        cores.empty() ? std::nullopt : std::optional(cores[i % cores.size()]);
    threads_.emplace_back([worker = workers_[i].get(), core, i] {
      BlockSignals();
      pthread_setname_np(pthread_self(), ("weir-net-" + std::to_string(i)).c_str());
      if (core) PinTo(*core);
      worker->Run();
    });
  }
}

void Server::TellNews() {
  for (const auto& worker : workers_) worker->TellNews();
}

void Server::Stop(Nanos drain) {
  if (threads_.empty()) return;
  for (const auto& worker : workers_) worker->Stop(drain);
  threads_.clear();  // joins
}

Totals Server::totals() const {
  Totals totals;
  for (const auto& worker : workers_) totals += worker->counters().Read();
  return totals;
}

}  // namespace weir::net
