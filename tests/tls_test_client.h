// A client of TLS that never blocks, for tests that turn the loop themselves. What it encrypts
// waits here until the test sends it: all at once, or a byte at a time.
#pragma once

#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include <string>
#include <string_view>

#include "base/freed_by.h"
#include "tests/certificates.h"
#include "tests/net_harness.h"

namespace weir::net {

using TlsTicket = std::unique_ptr<SSL_SESSION, FreedBy<SSL_SESSION_free>>;

struct TlsTestClientOptions {
  std::string ca = {};               // PEM; empty: believes anybody
  TestCertificate certificate = {};  // empty: has none
  std::string protocols = {};        // ALPN, as on the wire: "\x02h2"
  int version = TLS1_3_VERSION;      // the newest that it knows
  SSL_SESSION* ticket = nullptr;     // of an older session, to go on with
};

class TlsTestClient {
 public:
  explicit TlsTestClient(const Endpoint& endpoint, const TlsTestClientOptions& options = {},
                         int receive_buffer = 0)
      : socket_(endpoint, receive_buffer), context_(SSL_CTX_new(TLS_client_method())) {
    SSL_CTX_set_max_proto_version(context_.get(), options.version);
    SSL_CTX_set_cipher_list(context_.get(), "ALL:@SECLEVEL=0");
    SSL_CTX_set_min_proto_version(context_.get(), TLS1_VERSION);
    if (!options.ca.empty()) Believe(options.ca);
    if (!options.certificate.key.empty()) Use(options.certificate);
    session_.reset(SSL_new(context_.get()));
    in_ = BIO_new(BIO_s_mem());
    out_ = BIO_new(BIO_s_mem());
    SSL_set_bio(session_.get(), in_, out_);
    SSL_set_connect_state(session_.get());
    if (options.ticket != nullptr) SSL_set_session(session_.get(), options.ticket);
    SSL_set_alpn_protos(session_.get(),
                        reinterpret_cast<const unsigned char*>(options.protocols.data()),
                        static_cast<unsigned>(options.protocols.size()));
  }

  // Takes what the server has sent, and goes on with the handshake or decrypts.
  void Receive(std::size_t most = std::size_t{1} << 30) {
    socket_.Receive(most);
    const std::string& all = socket_.received();
    BIO_write(in_, all.data() + taken_, static_cast<int>(all.size() - taken_));
    taken_ = all.size();
    ERR_clear_error();
    if (SSL_do_handshake(session_.get()) != 1) return Note();
    std::string block(16384, '\0');
    for (std::size_t got = 0; SSL_read_ex(session_.get(), block.data(), block.size(), &got) == 1;) {
      received_.append(block, 0, got);
    }
    Note();
  }
  // Encrypts; what it comes to waits.
  void Write(std::string_view bytes) {
    std::size_t put = 0;
    EXPECT_EQ(SSL_write_ex(session_.get(), bytes.data(), bytes.size(), &put), 1);
  }
  void SayFarewell() { SSL_shutdown(session_.get()); }
  void UpdateKeys() {
    EXPECT_EQ(SSL_key_update(session_.get(), SSL_KEY_UPDATE_REQUESTED), 1);
    EXPECT_EQ(SSL_do_handshake(session_.get()), 1);
  }
  // TLS 1.2: wants to shake hands again.
  void Renegotiate() {
    EXPECT_EQ(SSL_renegotiate(session_.get()), 1);
    SSL_do_handshake(session_.get());
  }
  // Sends at most so much of what waits, and says how much that was.
  std::size_t Send(std::size_t most = std::size_t{1} << 30) {
    std::string block(65536, '\0');
    int got = 0;
    while ((got = BIO_read(out_, block.data(), static_cast<int>(block.size()))) > 0) {
      waiting_.append(block, 0, static_cast<std::size_t>(got));
    }
    const std::size_t sent = socket_.Send(std::string_view(waiting_).substr(0, most));
    waiting_.erase(0, sent);
    return sent;
  }
  // A turn of the client.
  void Pump() {
    Receive();
    Send();
  }

  [[nodiscard]] bool is_shaken() const { return SSL_is_init_finished(session_.get()) == 1; }
  // It goes on with an older session.
  [[nodiscard]] bool is_resumed() const { return SSL_session_reused(session_.get()) == 1; }
  // To go on with later. With TLS 1.3 it comes behind the handshake.
  [[nodiscard]] TlsTicket Ticket() const { return TlsTicket(SSL_get1_session(session_.get())); }
  [[nodiscard]] const std::string& received() const { return received_; }
  [[nodiscard]] bool is_told_farewell() const {
    return (SSL_get_shutdown(session_.get()) & SSL_RECEIVED_SHUTDOWN) != 0;
  }
  // What OpenSSL says went wrong; empty: nothing.
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] std::string protocol() const {
    const unsigned char* name = nullptr;
    unsigned size = 0;
    SSL_get0_alpn_selected(session_.get(), &name, &size);
    return {reinterpret_cast<const char*>(name), size};
  }
  [[nodiscard]] std::string version() const { return SSL_get_version(session_.get()); }
  // The common name of the server's certificate.
  [[nodiscard]] std::string ServerName() const {
    const X509* certificate = SSL_get0_peer_certificate(session_.get());
    std::string name(256, '\0');
    const int size = X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName,
                                               name.data(), static_cast<int>(name.size()));
    return name.substr(0, static_cast<std::size_t>(size));
  }
  TestClient& socket() { return socket_; }

 private:
  void Note() {
    if (error_.empty() && ERR_peek_error() != 0) error_ = openssl::TakeError();
    ERR_clear_error();
  }
  void Believe(const std::string& ca) {
    const openssl::Bio bio = openssl::ReadFrom(ca);
    const openssl::Certificate one(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context_.get()), one.get());
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
  }
  void Use(const TestCertificate& ours) {
    const openssl::Bio certificate = openssl::ReadFrom(ours.certificate);
    const openssl::Bio key = openssl::ReadFrom(ours.key);
    const openssl::Certificate one(PEM_read_bio_X509(certificate.get(), nullptr, nullptr, nullptr));
    const openssl::Key its(PEM_read_bio_PrivateKey(key.get(), nullptr, nullptr, nullptr));
    SSL_CTX_use_certificate(context_.get(), one.get());
    SSL_CTX_use_PrivateKey(context_.get(), its.get());
  }

  TestClient socket_;
  openssl::Context context_;
  openssl::Session session_;
  BIO* in_ = nullptr;   // of session_
  BIO* out_ = nullptr;  // of session_
  std::size_t taken_ = 0;
  std::string waiting_;
  std::string received_;
  std::string error_;
};

}  // namespace weir::net
