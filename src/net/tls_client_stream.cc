#include "net/tls_client_stream.h"

#include <openssl/err.h>

#include <cerrno>

#include "base/check.h"
#include "net/tls_client_settings.h"

namespace weir::net {

TlsClientStream::TlsClientStream(SSL_CTX& context, int socket, const std::string& server)
    : socket_{.fd = socket}, session_(SSL_new(&context)) {
  WEIR_CHECK(session_ != nullptr);
  socket_.Serve(*session_);
  SSL_set_mode(session_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  ExpectServer(*session_, server);
  SSL_set_connect_state(session_.get());
}

TlsClientStream::~TlsClientStream() {
  ERR_clear_error();
  const bool is_open = state_ == State::kOpen && SSL_is_init_finished(session_.get()) == 1;
  if (is_open) SSL_shutdown(session_.get());  // the server need not answer
  ERR_clear_error();
}

TlsClientStream::Shake TlsClientStream::ShakeHands() {
  ERR_clear_error();
  const int done = SSL_do_handshake(session_.get());
  if (done == 1) {
    wants_room_ = false;
    return Shake::kDone;
  }
  return Note(SSL_get_error(session_.get(), done)) ? Shake::kGoesOn : Shake::kFailed;
}

bool TlsClientStream::Note(int error) {
  const int number = errno;
  wants_room_ = error == SSL_ERROR_WANT_WRITE;
  if (wants_room_ || error == SSL_ERROR_WANT_READ) {
    errno = EAGAIN;
    return true;
  }
  state_ = error == SSL_ERROR_ZERO_RETURN ? State::kEnded : State::kFailed;
  if (error == SSL_ERROR_SSL) {
    problem_ = WhyNotBelieved(*session_);
    const bool is_shaken = SSL_is_init_finished(session_.get()) == 1;
    if (problem_.empty()) problem_ = (is_shaken ? "TLS: " : "no TLS: ") + openssl::TakeError();
  }
  ERR_clear_error();
  errno = error == SSL_ERROR_SYSCALL && number != 0 ? number : ECONNRESET;
  return false;
}

std::ptrdiff_t TlsClientStream::Receive(std::span<char> buffer) {
  std::size_t all = 0;
  has_more_ = false;
  ERR_clear_error();
  while (all < buffer.size() && state_ == State::kOpen) {
    std::size_t got = 0;
    const int done = SSL_read_ex(session_.get(), buffer.data() + all, buffer.size() - all, &got);
    all += got;
    if (done != 1 && Note(SSL_get_error(session_.get(), done))) break;
  }
  if (all > 0) {
    // What ended it is told when the bytes before it have been dealt with.
    const bool is_full = all == buffer.size() && SSL_has_pending(session_.get()) == 1;
    has_more_ = is_full || state_ != State::kOpen;
    return static_cast<std::ptrdiff_t>(all);
  }
  if (state_ == State::kEnded) return 0;
  errno = state_ == State::kOpen ? EAGAIN : ECONNRESET;
  return -1;
}

std::ptrdiff_t TlsClientStream::Transmit(std::string_view bytes) {
  std::size_t put = 0;
  ERR_clear_error();
  errno = 0;
  const int done = SSL_write_ex(session_.get(), bytes.data(), bytes.size(), &put);
  if (done == 1) return static_cast<std::ptrdiff_t>(put);
  Note(SSL_get_error(session_.get(), done));
  return -1;
}

}  // namespace weir::net
