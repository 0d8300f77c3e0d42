#include "net/acceptor.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>

namespace weir::net {
namespace {

// In one turn, so that those who are connected are not kept waiting.
constexpr int kAcceptedAtOnce = 64;
constexpr Nanos kPause = std::chrono::milliseconds(100);

Descriptor OpenSpare() { return Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)); }

}  // namespace

Acceptor::Acceptor(Loop& loop, Counters& counters, std::shared_ptr<ListeningSocket> socket,
                   Receive receive)
    : loop_(loop),
      counters_(counters),
      socket_(std::move(socket)),
      receive_(std::move(receive)),
      spare_(OpenSpare()) {
  // Of the loops that share a socket, one is woken. It makes no difference to those who do not.
  const int error = loop_.Watch(socket_->fd(), EPOLLIN | EPOLLEXCLUSIVE, *this);
  if (error != 0) throw std::system_error(error, std::generic_category(), "epoll_ctl");
}

Acceptor::~Acceptor() {
  if (pause_ == Loop::kNoTimer) loop_.Unwatch(socket_->fd());
  loop_.Cancel(pause_);
}

void Acceptor::OnReady(std::uint32_t /*events*/) {
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    SocketAddress peer;
    Descriptor connection(
        accept4(socket_->fd(), peer.get(), &peer.size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (connection.is_open()) {
      counters_.CountAccepted();
      receive_(std::move(connection), {.peer = peer.address(),
                                       .peer_port = peer.port(),
                                       .local_port = socket_->endpoint().port});
      continue;
    }
    switch (errno) {
      case EAGAIN:
        return;
      case EMFILE:
      case ENFILE:
        return Shed();
      case ENOBUFS:
      case ENOMEM:
        return Pause();
      default:
        break;  // the connection was lost before it was accepted: on to the next
    }
  }
}

// There are no descriptors left. To let connections wait in the queue would wake the loop again at
// once, and keep their clients guessing; so one is accepted with the spare descriptor, and closed.
void Acceptor::Shed() {
  spare_ = Descriptor();
  {
    const Descriptor unlucky(accept4(socket_->fd(), nullptr, nullptr, SOCK_CLOEXEC));
    if (unlucky.is_open()) {
      counters_.CountAccepted();
      counters_.CountClosed(Ending::kNoDescriptors);
    }
  }
  spare_ = OpenSpare();
  // Somebody else in the process took it: nothing is left but to wait.
  if (!spare_.is_open()) Pause();
}

void Acceptor::Pause() {
  loop_.Unwatch(socket_->fd());
  pause_ = loop_.After(kPause, [this] { Resume(); });
}

void Acceptor::Resume() {
  pause_ = Loop::kNoTimer;
  if (!spare_.is_open()) spare_ = OpenSpare();
  if (loop_.Watch(socket_->fd(), EPOLLIN | EPOLLEXCLUSIVE, *this) != 0) {
    pause_ = loop_.After(kPause, [this] { Resume(); });
  }
}

}  // namespace weir::net
