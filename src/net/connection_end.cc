// How a connection ends: when nothing is under way, or after what its handler has to say.
#include <cerrno>
#include <string>

#include "net/connection.h"
#include "net/connections.h"

namespace weir::net {

void Connection::Drain() {
  draining_ = true;
  // A request may have come that the loop has not seen yet.
  if (wait_ == Wait::kHandshake) {
    ShakeHands();
    if (wait_ != Wait::kHandshake) return;
  } else if (is_idle() && Read()) {
    return;
  }
  if (is_open() && is_idle()) End(Ending::kServerStopped);
}

bool Connection::is_idle() const {
  switch (wait_) {
    case Wait::kProxyHeader:
      return unread_.empty();
    case Wait::kHandshake:
      return !transport_.tls()->has_begun();
    case Wait::kRequest:
      return !owes_;
    default:
      return false;
  }
}

// Closes an idle connection, after what the handler has to say about that.
void Connection::End(Ending ending) {
  std::string& out = all_.EmptyOut();
  try {
    if (handler_) handler_->OnEnding(out);
  } catch (...) {
    return Close(Ending::kHandlerFailed);
  }
  if (out.empty()) return Close(ending);
  ending_ = ending;
  Finish({}, {.next = Next::kClose}, out);
}

void Connection::SayFarewell() {
  transport_.EndSending();
  Await(Wait::kFarewell);
  Discard();
}

void Connection::Discard() {
  const std::ptrdiff_t got = transport_.Discard(all_.in());
  if (got > 0) all_.counters_.CountBytesIn(static_cast<std::size_t>(got));
  if (got == 0 || (got < 0 && errno != EAGAIN)) Close(ending_);
}

}  // namespace weir::net
