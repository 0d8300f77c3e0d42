#include "net/tls_stream.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <cerrno>
#include <utility>

#include "base/check.h"

namespace weir::net {

TlsStream::TlsStream(std::shared_ptr<const TlsSettings> settings, int socket,
                     std::string_view protocol, std::string_view early)
    : settings_(std::move(settings)),
      socket_{.fd = socket, .early = std::string(early)},
      protocol_(protocol),
      session_(SSL_new(settings_->context())) {
  WEIR_CHECK(session_ != nullptr);
  socket_.Serve(*session_);
  SSL_set_app_data(session_.get(), this);
  SSL_set_accept_state(session_.get());
}

TlsStream::~TlsStream() = default;

void TlsStream::Prepare(SSL_CTX* context) {
  SSL_CTX_set_alpn_select_cb(context, ChooseProtocol, nullptr);
}

// --- the handshake
// --------------------------------------------------------------------------------

TlsStream::Shake TlsStream::ShakeHands() {
  ERR_clear_error();
  const int done = SSL_do_handshake(session_.get());
  if (done == 1) {
    wants_room_ = false;
    // What came behind the handshake was read with it.
    has_more_ = SSL_has_pending(session_.get()) == 1 || !socket_.early.empty();
    return Shake::kDone;
  }
  const int error = SSL_get_error(session_.get(), done);
  wants_room_ = error == SSL_ERROR_WANT_WRITE;
  if (wants_room_ || error == SSL_ERROR_WANT_READ) return Shake::kGoesOn;
  failure_ = WhyItFailed(error);
  state_ = State::kFailed;
  ERR_clear_error();
  return Shake::kFailed;
}

bool TlsStream::has_begun() const {
  return has_part() || SSL_get_state(session_.get()) != TLS_ST_BEFORE;
}

HandshakeFailure TlsStream::WhyItFailed(int error) const {
  if (name_refused_) return HandshakeFailure::kClientName;
  if (error != SSL_ERROR_SSL) return HandshakeFailure::kPeerLeft;
  if (SSL_get_verify_result(session_.get()) != X509_V_OK) {
    return HandshakeFailure::kClientCertificate;
  }
  const int reason = ERR_GET_REASON(ERR_peek_error());
  switch (reason) {
    case SSL_R_HTTP_REQUEST:
    case SSL_R_HTTPS_PROXY_REQUEST:
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_UNEXPECTED_MESSAGE:
    case SSL_R_UNSUPPORTED_SSL_VERSION:
    case SSL_R_PACKET_LENGTH_TOO_LONG:
    case SSL_R_RECORD_LENGTH_MISMATCH:
      return HandshakeFailure::kNotTls;
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_VERSION_TOO_LOW:
    case SSL_R_NO_SHARED_CIPHER:
    case SSL_R_NO_SUITABLE_KEY_SHARE:
    case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
    case SSL_R_NO_SHARED_GROUPS:
    case SSL_R_NO_APPLICATION_PROTOCOL:
      return HandshakeFailure::kNothingInCommon;
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
      return HandshakeFailure::kNoClientCertificate;
    default:
      // The client said it: it does not know our CA, or expects another name.
      return reason >= SSL_AD_REASON_OFFSET ? HandshakeFailure::kRefusedByClient
                                            : HandshakeFailure::kOther;
  }
}

// Called for each certificate from the CA's down to the client's, which is at depth 0.
int TlsStream::JudgeClient(int is_good, X509_STORE_CTX* store) {
  if (is_good != 1 || X509_STORE_CTX_get_error_depth(store) > 0) return is_good;
  const auto* session = static_cast<const SSL*>(
      X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()));
  auto& stream = *static_cast<TlsStream*>(SSL_get_app_data(session));
  const X509* certificate = X509_STORE_CTX_get_current_cert(store);
  if (stream.settings_->client_names().FirstOf(NamesOf(*certificate))) return 1;
  stream.name_refused_ = true;
  X509_STORE_CTX_set_error(store, X509_V_ERR_APPLICATION_VERIFICATION);
  return 0;
}

// To speak another protocol than the one expected is how a browser is made to send the bytes of one
// protocol to a port of another.
int TlsStream::ChooseProtocol(SSL* session, const unsigned char** chosen, unsigned char* size,
                              const unsigned char* offered, unsigned int offered_size,
                              void* /*unused*/) {
  const std::string_view ours = static_cast<TlsStream*>(SSL_get_app_data(session))->protocol_;
  if (ours.empty()) return SSL_TLSEXT_ERR_NOACK;
  std::string_view rest(reinterpret_cast<const char*>(offered), offered_size);
  while (!rest.empty()) {
    const std::size_t length = static_cast<unsigned char>(rest.front());
    const std::string_view one = rest.substr(1, length);
    if (one == ours) {
      *chosen = reinterpret_cast<const unsigned char*>(one.data());
      *size = static_cast<unsigned char>(one.size());
      return SSL_TLSEXT_ERR_OK;
    }
    rest.remove_prefix(1 + one.size());
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

std::string TlsStream::ClientName() const {
  // Also of a session that goes on from before, whose certificate is in its ticket.
  const openssl::Certificate certificate(SSL_get1_peer_certificate(session_.get()));
  if (!certificate) return "";
  return settings_->client_names().FirstOf(NamesOf(*certificate)).value_or("");
}

// --- bytes
// ----------------------------------------------------------------------------------------

void TlsStream::Note(int error) {
  wants_room_ = error == SSL_ERROR_WANT_WRITE;
  if (wants_room_ || error == SSL_ERROR_WANT_READ) return;
  state_ = error == SSL_ERROR_ZERO_RETURN ? State::kEnded : State::kFailed;
  ERR_clear_error();
}

std::ptrdiff_t TlsStream::Receive(std::span<char> buffer) {
  std::size_t all = 0;
  wants_room_ = false;
  ERR_clear_error();
  while (all < buffer.size() && state_ == State::kOpen) {
    std::size_t got = 0;
    if (SSL_read_ex(session_.get(), buffer.data() + all, buffer.size() - all, &got) == 1) {
      all += got;
      continue;
    }
    Note(SSL_get_error(session_.get(), 0));
    if (state_ == State::kOpen) break;
  }
  if (all > 0) {
    // What ended it is told when the bytes before it have been dealt with. A record of which only a
    // part has come is no more: the kernel tells when its rest is there.
    const bool is_full = all == buffer.size() && SSL_has_pending(session_.get()) == 1;
    has_more_ = is_full || wants_room_ || state_ != State::kOpen;
    return static_cast<std::ptrdiff_t>(all);
  }
  has_more_ = wants_room_;  // it stopped in the middle of what it had
  if (state_ == State::kEnded) return 0;
  errno = state_ == State::kOpen ? EAGAIN : ECONNRESET;
  return -1;
}

std::optional<std::size_t> TlsStream::Transmit(std::string_view bytes) {
  std::size_t sent = 0;
  ERR_clear_error();
  while (sent < bytes.size()) {
    std::size_t put = 0;
    if (SSL_write_ex(session_.get(), bytes.data() + sent, bytes.size() - sent, &put) == 1) {
      sent += put;
      continue;
    }
    if (SSL_get_error(session_.get(), 0) == SSL_ERROR_WANT_WRITE) break;
    state_ = State::kFailed;
    ERR_clear_error();
    return std::nullopt;
  }
  return sent;
}

void TlsStream::SayFarewell() {
  if (state_ == State::kFailed || SSL_is_init_finished(session_.get()) == 0) return;
  ERR_clear_error();
  static_cast<void>(SSL_shutdown(session_.get()));  // the peer need not answer
  ERR_clear_error();
}

bool TlsStream::has_part() const {
  // "RB": a header of a record has come, its body has not.
  return SSL_has_pending(session_.get()) == 1 ||
         std::string_view(SSL_rstate_string(session_.get())) == "RB";
}

}  // namespace weir::net
