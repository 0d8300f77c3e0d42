#include "net/tls_socket.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "base/check.h"

namespace weir::net {
namespace {

TlsSocket& SocketOf(BIO* bio) { return *static_cast<TlsSocket*>(BIO_get_data(bio)); }

int Read(BIO* bio, char* buffer, int size) {
  TlsSocket& socket = SocketOf(bio);
  BIO_clear_retry_flags(bio);
  if (!socket.early.empty()) {
    const std::size_t some = std::min(socket.early.size(), static_cast<std::size_t>(size));
    socket.early.copy(buffer, some);
    socket.early.erase(0, some);
    return static_cast<int>(some);
  }
  for (;;) {
    const ssize_t got = recv(socket.fd, buffer, static_cast<std::size_t>(size), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) BIO_set_retry_read(bio);
    if (got == 0) socket.at_end = true;
    return static_cast<int>(got);
  }
}

int Write(BIO* bio, const char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  for (;;) {
    const ssize_t put = send(SocketOf(bio).fd, bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN) BIO_set_retry_write(bio);
    return static_cast<int>(put);
  }
}

// NOLINTNEXTLINE(google-runtime-int): as OpenSSL has it
long Control(BIO* bio, int command, long /*number*/, void* /*pointer*/) {
  switch (command) {
    case BIO_CTRL_FLUSH:
      return 1;
    case BIO_CTRL_EOF:
      return SocketOf(bio).at_end ? 1 : 0;
    default:
      return 0;
  }
}

const BIO_METHOD* Method() {
  static const BIO_METHOD* const kMethod = [] {
    BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "weir socket");
    WEIR_CHECK(method != nullptr);
    BIO_meth_set_read(method, Read);
    BIO_meth_set_write(method, Write);
    BIO_meth_set_ctrl(method, Control);
    return method;
  }();
  return kMethod;
}

}  // namespace

void TlsSocket::Serve(SSL& session) {
  BIO* const bio = BIO_new(Method());
  WEIR_CHECK(bio != nullptr);
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(&session, bio, bio);  // which owns it
}

}  // namespace weir::net
