// Sockets that listen.
//
// On a TCP port each loop has a socket of its own (SO_REUSEPORT), and the kernel spreads the
// connections over them: no loop wakes up for the connection of another. A Unix socket can be had
// only once; the loops share it.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "net/endpoint.h"
#include "weir/result.h"

namespace weir::net {

class ListeningSocket {
 public:
  struct Options {
    int backlog = 4096;  // connections that wait to be accepted; the kernel has a limit of its own
    mode_t unix_mode = 0660;  // who may connect to a Unix socket
  };

  // A socket for each of so many loops; on a Unix socket it is the same one.
  //
  // A port that somebody listens on already is refused, also if that is another server of ours. A
  // file that is in the way of a Unix socket is removed if it is a socket on which nobody listens.
  static Result<std::vector<std::shared_ptr<ListeningSocket>>> Open(const Endpoint& endpoint,
                                                                    std::size_t loops,
                                                                    const Options& options);

  // Removes the file of a Unix socket, unless it is somebody else's by now.
  ~ListeningSocket();
  ListeningSocket(const ListeningSocket&) = delete;
  ListeningSocket& operator=(const ListeningSocket&) = delete;

  [[nodiscard]] int fd() const { return socket_.get(); }
  // With the port that was chosen, where it was 0.
  [[nodiscard]] const Endpoint& endpoint() const { return endpoint_; }

 private:
  ListeningSocket(Endpoint endpoint, Descriptor socket);

  static Result<std::shared_ptr<ListeningSocket>> OpenTcp(const Endpoint& endpoint,
                                                          const SocketAddress& address,
                                                          const Options& options);
  static Result<std::shared_ptr<ListeningSocket>> OpenUnix(const Endpoint& endpoint,
                                                           const SocketAddress& address,
                                                           const Options& options);

  Endpoint endpoint_;
  Descriptor socket_;
  struct stat file_ {};  // of a Unix socket, to know it again
};

}  // namespace weir::net
