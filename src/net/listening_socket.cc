#include "net/listening_socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace weir::net {
namespace {

std::string WhatToDo(int error) {
  switch (error) {
    case EADDRINUSE:
      return ": stop the program that listens there, or choose another port";
    case EADDRNOTAVAIL:
      return ": no interface of this machine has it; 0.0.0.0 or [::] stand for all";
    case EACCES:
      return ": a port below 1024 needs the capability CAP_NET_BIND_SERVICE, a Unix socket a "
             "folder "
             "that may be written to";
    case ENOENT:
      return ": create its folder first";
    default:
      return "";
  }
}

Error CannotListen(const Endpoint& endpoint, const std::string& reason) {
  return Error{endpoint.ToString() + ": cannot listen: " + reason};
}

Error CannotListen(const Endpoint& endpoint, int error) {
  return CannotListen(endpoint, std::generic_category().message(error) + WhatToDo(error));
}

Descriptor MakeSocket(int family) {
  return Descriptor(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

bool Set(const Descriptor& socket, int level, int option, int value) {
  return setsockopt(socket.get(), level, option, &value, sizeof value) == 0;
}

// A socket that may share its port with others of ours (kShared) or with nobody.
enum class Port : unsigned char { kShared, kExclusive };

Descriptor Bind(const SocketAddress& address, Port port) {
  Descriptor socket = MakeSocket(address.storage.ss_family);
  if (!socket.is_open()) return socket;
  // Connections of an earlier run that are still winding up do not keep the port from us.
  const bool set =
      Set(socket, SOL_SOCKET, SO_REUSEADDR, 1) &&
      (port == Port::kExclusive || Set(socket, SOL_SOCKET, SO_REUSEPORT, 1)) &&
      (address.storage.ss_family != AF_INET6 || Set(socket, IPPROTO_IPV6, IPV6_V6ONLY, 0)) &&
      Set(socket, IPPROTO_TCP, TCP_NODELAY, 1);  // accepted connections inherit it
  if (!set || bind(socket.get(), address.get(), address.size) != 0) return {};
  return socket;
}

// Whether somebody accepts connections there.
bool IsAnswered(const SocketAddress& address) {
  const Descriptor socket = MakeSocket(AF_UNIX);
  if (!socket.is_open()) return true;
  // EAGAIN: its queue is full. EACCES: we cannot know. Only who is refused knows.
  return connect(socket.get(), address.get(), address.size) == 0 || errno != ECONNREFUSED;
}

}  // namespace

ListeningSocket::ListeningSocket(Endpoint endpoint, Descriptor socket)
    : endpoint_(std::move(endpoint)), socket_(std::move(socket)) {}

ListeningSocket::~ListeningSocket() {
  struct stat now {};
  if (endpoint_.is_unix() && stat(endpoint_.path.c_str(), &now) == 0 &&
      now.st_dev == file_.st_dev && now.st_ino == file_.st_ino) {
    unlink(endpoint_.path.c_str());
  }
}

Result<std::vector<std::shared_ptr<ListeningSocket>>> ListeningSocket::Open(
    const Endpoint& endpoint, std::size_t loops, const Options& options) {
  std::vector<std::shared_ptr<ListeningSocket>> sockets;
  Endpoint wanted = endpoint;
  while (sockets.size() < loops) {
    const Result<SocketAddress> address = ToSocketAddress(wanted);
    if (!address.ok()) return CannotListen(endpoint, address.error().message);
    if (!sockets.empty() && endpoint.is_unix()) {
      sockets.push_back(sockets.front());
      continue;
    }
    // To share a port is to share it with everybody who is of the same user, so ask first whether
    // it is free.
    if (sockets.empty() && wanted.port != 0 && !Bind(*address, Port::kExclusive).is_open()) {
      return CannotListen(endpoint, errno);
    }
    Result<std::shared_ptr<ListeningSocket>> socket = endpoint.is_unix()
                                                          ? OpenUnix(wanted, *address, options)
                                                          : OpenTcp(wanted, *address, options);
    if (!socket.ok()) return socket.error();
    wanted = (*socket)->endpoint();  // the others take the port of the first
    sockets.push_back(*std::move(socket));
  }
  return sockets;
}

Result<std::shared_ptr<ListeningSocket>> ListeningSocket::OpenTcp(const Endpoint& endpoint,
                                                                  const SocketAddress& address,
                                                                  const Options& options) {
  Descriptor socket = Bind(address, Port::kShared);
  SocketAddress bound;
  if (!socket.is_open() || listen(socket.get(), options.backlog) != 0 ||
      getsockname(socket.get(), bound.get(), &bound.size) != 0) {
    return CannotListen(endpoint, errno);
  }
  Endpoint known = endpoint;
  known.port = bound.port();
  return std::shared_ptr<ListeningSocket>(new ListeningSocket(known, std::move(socket)));
}

Result<std::shared_ptr<ListeningSocket>> ListeningSocket::OpenUnix(const Endpoint& endpoint,
                                                                   const SocketAddress& address,
                                                                   const Options& options) {
  const char* const path = endpoint.path.c_str();
  struct stat file {};
  if (lstat(path, &file) == 0) {
    if (!S_ISSOCK(file.st_mode)) {
      return CannotListen(endpoint,
                          "there is a file which is no socket: remove it, or choose "
                          "another path");
    }
    if (IsAnswered(address)) return CannotListen(endpoint, EADDRINUSE);
    unlink(path);  // somebody crashed
  }
  Descriptor socket = MakeSocket(AF_UNIX);
  if (!socket.is_open() || bind(socket.get(), address.get(), address.size) != 0) {
    return CannotListen(endpoint, errno);
  }
  const auto opened =
      std::shared_ptr<ListeningSocket>(new ListeningSocket(endpoint, std::move(socket)));
  // Nobody can connect before listen(): the mode comes in time.
  if (stat(path, &opened->file_) != 0 || chmod(path, options.unix_mode) != 0 ||
      listen(opened->fd(), options.backlog) != 0) {
    return CannotListen(endpoint, errno);
  }
  return opened;
}

}  // namespace weir::net
