#include "net/tls_client.h"

#include <openssl/err.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/check.h"

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

}  // namespace

Result<std::unique_ptr<TlsClient>> TlsClient::Connect(const Endpoint& endpoint,
                                                      const TlsClientOptions& options) {
  Result<openssl::Context> context = MakeClientContext(options);
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
  ExpectServer(*session_, expected);
  if (!options.protocol.empty()) {
    const std::string offered =
        std::string(1, static_cast<char>(options.protocol.size())) + options.protocol;
    SSL_set_alpn_protos(session_.get(), reinterpret_cast<const unsigned char*>(offered.data()),
                        static_cast<unsigned>(offered.size()));
  }
  ERR_clear_error();
  const int done = SSL_connect(session_.get());
  if (done == 1) return std::nullopt;
  const std::string reason = WhyNotBelieved(*session_);
  if (reason.empty()) return Failure("no TLS", done);
  ERR_clear_error();
  return Error{name_ + ": " + reason};
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
