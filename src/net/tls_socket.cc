#include "net/tls_socket.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>

#include "base/check.h"
#include "net/tls_stream.h"

namespace weir::net {
namespace {

TlsStream& StreamOf(BIO* bio) { return *static_cast<TlsStream*>(BIO_get_data(bio)); }

}  // namespace

BIO* TlsSocket::Of(TlsStream& stream) {
  BIO* const bio = BIO_new(Method());
  WEIR_CHECK(bio != nullptr);
  BIO_set_data(bio, &stream);
  BIO_set_init(bio, 1);
  return bio;
}

const BIO_METHOD* TlsSocket::Method() {
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

int TlsSocket::Read(BIO* bio, char* buffer, int size) {
  TlsStream& stream = StreamOf(bio);
  BIO_clear_retry_flags(bio);
  if (!stream.early_.empty()) {
    const std::size_t some = std::min(stream.early_.size(), static_cast<std::size_t>(size));
    stream.early_.copy(buffer, some);
    stream.early_.erase(0, some);
    return static_cast<int>(some);
  }
  for (;;) {
    const ssize_t got = recv(stream.socket_, buffer, static_cast<std::size_t>(size), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) BIO_set_retry_read(bio);
    if (got == 0) stream.at_end_ = true;
    return static_cast<int>(got);
  }
}

int TlsSocket::Write(BIO* bio, const char* bytes, int size) {
  BIO_clear_retry_flags(bio);
  for (;;) {
    const ssize_t put =
        send(StreamOf(bio).socket_, bytes, static_cast<std::size_t>(size), MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN) BIO_set_retry_write(bio);
    return static_cast<int>(put);
  }
}

// NOLINTNEXTLINE(google-runtime-int): as OpenSSL has it
long TlsSocket::Control(BIO* bio, int command, long /*number*/, void* /*pointer*/) {
  switch (command) {
    case BIO_CTRL_FLUSH:
      return 1;
    case BIO_CTRL_EOF:
      return StreamOf(bio).at_end_ ? 1 : 0;
    default:
      return 0;
  }
}

}  // namespace weir::net
