// One loop with its listeners and connections: all that one core does.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "net/acceptor.h"
#include "net/admission.h"
#include "net/companion.h"
#include "net/connections.h"
#include "net/counters.h"
#include "net/listener_options.h"
#include "net/listening_socket.h"
#include "net/loop.h"
#include "weir/units.h"

namespace weir::net {

// Thread safety: one thread, but for TellNews(), Stop() and counters().
class Worker {
 public:
  // `admission` outlives it, `time` is called in its thread. Throws std::system_error if the
  // process has no descriptors left.
  Worker(Admission& admission, Loop::TimeSource time, std::size_t number = 0);

  // For as long as it runs.
  void Keep(std::unique_ptr<Companion> companion) { companion_ = std::move(companion); }

  // Before Run(). `options` outlives the worker.
  void Listen(std::shared_ptr<ListeningSocket> socket, const ListenerOptions& options);

  // Lets all handlers say what is new. Returns at once. From any thread.
  void TellNews() {
    loop_.Post([this] { connections_.TellNews(); });
  }
  // Returns when Stop() has come to its end.
  void Run() { loop_.Run(); }
  // Accepts no more, lets requests that have begun be finished for so long, and closes. Returns at
  // once. From any thread, once.
  void Stop(Nanos drain);

  Loop& loop() { return loop_; }
  [[nodiscard]] const Counters& counters() const { return counters_; }

 private:
  void BeginStop(Nanos drain);
  void EndStop();

  std::size_t number_;
  Counters counters_;
  Loop loop_;
  std::unique_ptr<Companion> companion_;
  Connections connections_;
  std::vector<std::unique_ptr<Acceptor>> acceptors_;
};

}  // namespace weir::net
