// The client's end of TLS on a socket that does not block: between the socket and its plain bytes.
//
// It never waits, as the server's end (tls_stream.h): what the socket has no bytes or no room for
// is tried again when the kernel says so.
//
// A record is taken by the server as a whole or not at all, and bytes count as sent when their
// record has gone out: what was not counted was surely not read by anybody.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "net/openssl.h"
#include "net/tls_socket.h"

namespace weir::net {

// Thread safety: none; a connection has its own.
class TlsClientStream {
 public:
  // `socket` does not block and outlives it; `context` need not. The server has to be `server`: a
  // name or an address.
  TlsClientStream(SSL_CTX& context, int socket, const std::string& server);
  ~TlsClientStream();  // says goodbye
  TlsClientStream(const TlsClientStream&) = delete;
  TlsClientStream& operator=(const TlsClientStream&) = delete;

  enum class Shake : std::uint8_t { kDone, kGoesOn, kFailed };
  // One step of the handshake.
  Shake ShakeHands();

  // As recv(): all that is there; 0 at the end, -1 and errno (EAGAIN, ECONNRESET) otherwise.
  std::ptrdiff_t Receive(std::span<char> buffer);
  // As send(). What is offered after an EAGAIN begins with what was offered before.
  std::ptrdiff_t Transmit(std::string_view bytes);

  // What was tried last waits for room in the socket, not for bytes from it.
  [[nodiscard]] bool wants_room() const { return wants_room_; }
  // Receive() would return something that the kernel does not know of.
  [[nodiscard]] bool has_more() const { return has_more_; }
  // What went wrong, if TLS knows more than the kernel; empty otherwise.
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  enum class State : std::uint8_t { kOpen, kEnded, kFailed };

  // Whether to try again later.
  bool Note(int error);

  TlsSocket socket_;
  openssl::Session session_;
  State state_ = State::kOpen;
  bool wants_room_ = false;
  bool has_more_ = false;
  std::string problem_;
};

}  // namespace weir::net
