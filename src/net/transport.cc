#include "net/transport.h"

#include <sys/socket.h>

#include <cerrno>

namespace weir::net {

void Transport::Close() {
  if (tls_) tls_->SayFarewell();
  tls_.reset();
  socket_ = Descriptor();
}

std::ptrdiff_t Transport::Receive(std::span<char> buffer) {
  return tls_ ? tls_->Receive(buffer) : ReceivePlain(buffer);
}

std::optional<std::size_t> Transport::Transmit(std::string_view bytes) {
  return tls_ ? tls_->Transmit(bytes) : TransmitPlain(bytes);
}

void Transport::EndSending() {
  if (tls_) tls_->SayFarewell();
  shutdown(socket_.get(), SHUT_WR);
}

std::ptrdiff_t Transport::ReceivePlain(std::span<char> buffer) {
  for (;;) {
    const ssize_t got = recv(socket_.get(), buffer.data(), buffer.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    return got;
  }
}

std::optional<std::size_t> Transport::TransmitPlain(std::string_view bytes) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t put = send(socket_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && errno == EAGAIN) break;
    if (put < 0) return std::nullopt;
    sent += static_cast<std::size_t>(put);
  }
  return sent;
}

}  // namespace weir::net
