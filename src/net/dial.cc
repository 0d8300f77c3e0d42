#include "net/dial.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>

namespace weir::net {

Result<Descriptor> Dial(const SocketAddress& address) {
  const int family = address.storage.ss_family;
  Descriptor dialled(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!dialled.is_open()) return Error{std::generic_category().message(errno)};
  const int yes = 1;
  if (family != AF_UNIX &&
      setsockopt(dialled.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes) != 0) {
    return Error{std::generic_category().message(errno)};
  }
  // A Unix socket whose queue is full says EAGAIN: nothing will become of it.
  if (connect(dialled.get(), address.get(), address.size) != 0 && errno != EINPROGRESS) {
    return Error{std::generic_category().message(errno)};
  }
  return dialled;
}

int DialProblem(const Descriptor& socket) {
  int problem = 0;
  socklen_t size = sizeof problem;
  if (getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &problem, &size) != 0) return errno;
  return problem;
}

}  // namespace weir::net
