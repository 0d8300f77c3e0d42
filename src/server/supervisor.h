// Tells systemd how it stands with the server (`Type=notify`), as sd_notify(3) does: a datagram to
// the socket that NOTIFY_SOCKET names. Nobody is told if there is none.
#pragma once

#include <string>
#include <string_view>

#include "weir/units.h"

namespace weir {

class Supervisor {
 public:
  // `socket`: what NOTIFY_SOCKET says, "/run/..." or "@..." in the abstract namespace; empty:
  // nobody.
  explicit Supervisor(std::string socket) : socket_(std::move(socket)) {}

  void Ready(std::string_view status) const;
  void Reloading() const;  // Ready() says that it is over
  // And that it will be `delay` until it begins to end, which is no reason to kill it.
  void Stopping(Nanos delay = Nanos(0)) const;

 private:
  // A supervisor that cannot be reached is no reason to stop serving.
  void Tell(const std::string& state) const;

  std::string socket_;
};

}  // namespace weir
