#include "net/tls_client.h"

#include <openssl/err.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "rule/address.h"

namespace weir::net {
namespace {

Result<Descriptor> ConnectTo(const Endpoint& endpoint, std::chrono::milliseconds timeout) {
  const Result<SocketAddress> address = ToSocketAddress(endpoint);
  if (!address) return Error{endpoint.Authority() + ": " + address.error().message};
  Descriptor socket(::socket(address->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const auto seconds = std::chrono::floor<std::chrono::seconds>(timeout);
  timeval time{};
  time.tv_sec = seconds.count();
  time.tv_usec = std::chrono::microseconds(timeout - seconds).count();
  setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
  setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
  if (connect(socket.get(), address->get(), address->size) != 0) {
    return Error{endpoint.Authority() + ": cannot connect: " + std::strerror(errno)};
  }
  return socket;
}

Result<openssl::Context> MakeContext(const TlsClientOptions& options) {
  openssl::Context context(SSL_CTX_new(TLS_client_method()));
  WEIR_CHECK(context != nullptr);
  SSL_CTX* const all = context.get();
  SSL_CTX_set_min_proto_version(all, TLS1_2_VERSION);
  SSL_CTX_set_options(all, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_verify(all, SSL_VERIFY_PEER, nullptr);
  ERR_clear_error();
  const int believes = options.ca.empty() ? SSL_CTX_set_default_verify_paths(all)
                                          : SSL_CTX_load_verify_file(all, options.ca.c_str());
  if (believes != 1) {
    return Error{options.ca + ": there are no certificates in it: " + openssl::TakeError()};
  }
  if (options.certificate.empty()) return context;
  if (SSL_CTX_use_certificate_chain_file(all, options.certificate.c_str()) != 1) {
    return Error{options.certificate + ": cannot be used: " + openssl::TakeError()};
  }
  if (SSL_CTX_use_PrivateKey_file(all, options.key.c_str(), SSL_FILETYPE_PEM) != 1) {
    return Error{options.key + ": is not the key of " + options.certificate + ": " +
                 openssl::TakeError()};
  }
  return context;
}

}  // namespace

Result<std::unique_ptr<TlsClient>> TlsClient::Connect(const Endpoint& endpoint,
                                                      const TlsClientOptions& options) {
  Result<openssl::Context> context = MakeContext(options);
  if (!context) return context.error();
  Result<Descriptor> socket = ConnectTo(endpoint, options.timeout);
  if (!socket) return socket.error();
  std::unique_ptr<TlsClient> client(
      new TlsClient(endpoint.Authority(), std::move(*socket), std::move(*context)));
  if (auto error = client->Shake(endpoint, options)) return *std::move(error);
  return client;
}

TlsClient::TlsClient(std::string name, Descriptor socket, openssl::Context context)
    : name_(std::move(name)),
      socket_(std::move(socket)),
      tls_socket_{.fd = socket_.get()},
      context_(std::move(context)),
      session_(SSL_new(context_.get())) {
  WEIR_CHECK(session_ != nullptr);
  tls_socket_.Serve(*session_);
  SSL_set_connect_state(session_.get());
}

TlsClient::~TlsClient() {
  ERR_clear_error();
  if (SSL_is_init_finished(session_.get()) == 1) SSL_shutdown(session_.get());
  ERR_clear_error();
}

std::optional<Error> TlsClient::Shake(const Endpoint& endpoint, const TlsClientOptions& options) {
  const std::string& expected = options.server_name.empty() ? endpoint.host : options.server_name;
  X509_VERIFY_PARAM* const verified = SSL_get0_param(session_.get());
  if (rule::Address::Parse(expected)) {
    X509_VERIFY_PARAM_set1_ip_asc(verified, expected.c_str());
  } else {
    SSL_set_tlsext_host_name(session_.get(), expected.c_str());
    X509_VERIFY_PARAM_set1_host(verified, expected.c_str(), 0);
  }
  if (!options.protocol.empty()) {
    const std::string offered =
        std::string(1, static_cast<char>(options.protocol.size())) + options.protocol;
    SSL_set_alpn_protos(session_.get(), reinterpret_cast<const unsigned char*>(offered.data()),
                        static_cast<unsigned>(offered.size()));
  }
  ERR_clear_error();
  const int done = SSL_connect(session_.get());
  if (done == 1) return std::nullopt;
  const auto verdict = SSL_get_verify_result(session_.get());
  if (verdict == X509_V_OK) return Failure("no TLS", done);
  ERR_clear_error();
  return Error{name_ +
               ": its certificate is not believed: " + X509_verify_cert_error_string(verdict)};
}

std::optional<Error> TlsClient::Send(std::string_view bytes) {
  if (bytes.empty()) return std::nullopt;
  ERR_clear_error();
  std::size_t sent = 0;  // all of it, or none
  const int done = SSL_write_ex(session_.get(), bytes.data(), bytes.size(), &sent);
  if (done == 1) return std::nullopt;
  return Failure("cannot send", done);
}

Result<std::size_t> TlsClient::Receive(std::span<char> buffer) {
  ERR_clear_error();
  std::size_t got = 0;
  const int done = SSL_read_ex(session_.get(), buffer.data(), buffer.size(), &got);
  if (done == 1) return got;
  if (SSL_get_error(session_.get(), done) == SSL_ERROR_ZERO_RETURN) return std::size_t{0};
  return Failure("cannot receive", done);
}

Error TlsClient::Failure(const char* what, int returned) const {
  const int kind = SSL_get_error(session_.get(), returned);
  const int number = errno;
  const std::string prefix = name_ + ": " + what + ": ";
  if (kind == SSL_ERROR_WANT_READ || kind == SSL_ERROR_WANT_WRITE) {
    return Error{prefix + "the server does not answer in time"};
  }
  if (kind == SSL_ERROR_SYSCALL) {
    return Error{prefix + (number != 0 ? std::strerror(number) : "the server has hung up")};
  }
  return Error{prefix + openssl::TakeError()};
}

const X509& TlsClient::server_certificate() const {
  return *SSL_get0_peer_certificate(session_.get());
}

}  // namespace weir::net
