// The encryption of one connection: between its socket and its plain bytes.
//
// It never waits. What the socket has no bytes or no room for is tried again when the kernel says
// so, and `wants_room()` tells which of the two it is. Decrypted bytes, and bytes that were read
// from the socket but not decrypted yet, are in here, where the kernel knows nothing of them:
// `has_more()` says so, and whoever waits for the kernel then waits for nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "net/counters.h"
#include "net/openssl.h"
#include "net/tls_settings.h"
#include "net/tls_socket.h"

namespace weir::net {

// Thread safety: none; a connection has its own.
class TlsStream {
 public:
  // `socket` does not block and outlives it. `protocol` is what is spoken inside ("h2"), for
  // clients that ask (ALPN); empty: they may ask what they like. `early` was read from the socket
  // before.
  TlsStream(std::shared_ptr<const TlsSettings> settings, int socket, std::string_view protocol,
            std::string_view early = {});
  ~TlsStream();
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  enum class Shake : std::uint8_t { kDone, kGoesOn, kFailed };
  // One step of the handshake. If it failed the client has been told why, as far as it listens.
  Shake ShakeHands();
  // Anything of it has come from the client.
  [[nodiscard]] bool has_begun() const;
  [[nodiscard]] HandshakeFailure failure() const { return failure_; }
  // Of the client, which was verified by the handshake; empty: it was not asked, or has no name.
  [[nodiscard]] std::string ClientName() const;

  // As recv(): all that is there; 0 at the end, -1 and errno (EAGAIN, ECONNRESET) otherwise.
  std::ptrdiff_t Receive(std::span<char> buffer);
  // How much was taken; none if the peer is lost. The rest must be what is offered next.
  std::optional<std::size_t> Transmit(std::string_view bytes);
  // Nothing more will be sent.
  void SayFarewell();

  // What was tried last waits for room in the socket, not for bytes from it.
  [[nodiscard]] bool wants_room() const { return wants_room_; }
  // Receive() would return something that the kernel does not know of.
  [[nodiscard]] bool has_more() const { return has_more_; }
  // A part of a record has come: its rest should not take forever.
  [[nodiscard]] bool has_part() const;

  // For settings: what connections need of them.
  static void Prepare(SSL_CTX* context);
  static int JudgeClient(int is_good, X509_STORE_CTX* store);

 private:
  enum class State : std::uint8_t { kOpen, kEnded, kFailed };

  void Note(int error);
  [[nodiscard]] HandshakeFailure WhyItFailed(int error) const;
  static int ChooseProtocol(SSL* session, const unsigned char** chosen, unsigned char* size,
                            const unsigned char* offered, unsigned int offered_size, void* unused);

  const std::shared_ptr<const TlsSettings> settings_;
  TlsSocket socket_;
  const std::string_view protocol_;
  openssl::Session session_;
  State state_ = State::kOpen;
  HandshakeFailure failure_ = HandshakeFailure::kOther;
  bool wants_room_ = false;
  bool has_more_ = false;
  bool name_refused_ = false;
};

}  // namespace weir::net
