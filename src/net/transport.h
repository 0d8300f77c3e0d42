// The bytes of a connection, plain or encrypted: the same to whoever reads and writes them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/descriptor.h"
#include "net/tls_stream.h"

namespace weir::net {

// Thread safety: none; a connection has its own.
class Transport {
 public:
  // A socket that does not block.
  explicit Transport(Descriptor socket) : socket_(std::move(socket)) {}

  [[nodiscard]] bool is_open() const { return socket_.is_open(); }
  [[nodiscard]] int fd() const { return socket_.get(); }
  void Close();

  // From now on. `stream` is of this socket.
  void Encrypt(std::unique_ptr<TlsStream> stream) { tls_ = std::move(stream); }
  [[nodiscard]] TlsStream* tls() const { return tls_.get(); }

  // As recv(), but for signals.
  std::ptrdiff_t Receive(std::span<char> buffer);
  // How much was taken; none if the peer is lost. The rest must be what is offered next.
  std::optional<std::size_t> Transmit(std::string_view bytes);

  // Says goodbye: nothing more will be sent.
  void EndSending();
  // As Receive(), for bytes that nobody will look at.
  std::ptrdiff_t Discard(std::span<char> buffer) { return ReceivePlain(buffer); }

  // See TlsStream.
  [[nodiscard]] bool has_more() const { return tls_ && tls_->has_more(); }
  [[nodiscard]] bool has_part() const { return tls_ && tls_->has_part(); }
  [[nodiscard]] bool wants_room() const { return tls_ && tls_->wants_room(); }

 private:
  std::ptrdiff_t ReceivePlain(std::span<char> buffer);
  std::optional<std::size_t> TransmitPlain(std::string_view bytes);

  Descriptor socket_;
  std::unique_ptr<TlsStream> tls_;
};

}  // namespace weir::net
