#include "server/api_stream.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/descriptor.h"

namespace weir {
namespace {

Error Reason(int code) {
  if (code == EAGAIN || code == ETIMEDOUT) return Error{"it does not answer in time"};
  return Error{std::error_code(code, std::generic_category()).message()};
}

class PlainStream final : public ApiStream {
 public:
  explicit PlainStream(Descriptor socket) : socket_(std::move(socket)) {}

  std::optional<Error> Send(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t put = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return Reason(errno);
      bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return std::nullopt;
  }
  Result<std::size_t> Receive(std::span<char> into) override {
    for (;;) {
      const ssize_t got = recv(socket_.get(), into.data(), into.size(), 0);
      if (got >= 0) return static_cast<std::size_t>(got);
      if (errno != EINTR) return Reason(errno);
    }
  }

 private:
  Descriptor socket_;
};

class EncryptedStream final : public ApiStream {
 public:
  explicit EncryptedStream(std::unique_ptr<net::TlsClient> client) : client_(std::move(client)) {}
  std::optional<Error> Send(std::string_view bytes) override { return client_->Send(bytes); }
  Result<std::size_t> Receive(std::span<char> into) override { return client_->Receive(into); }

 private:
  std::unique_ptr<net::TlsClient> client_;
};

// Waits for the connection that was begun. 0, or why there is none.
int Finish(const Descriptor& socket, std::chrono::milliseconds timeout) {
  pollfd wait{socket.get(), POLLOUT, 0};
  int ready = 0;
  do {
    ready = poll(&wait, 1, static_cast<int>(timeout.count()));
  } while (ready < 0 && errno == EINTR);
  if (ready <= 0) return ready == 0 ? ETIMEDOUT : errno;
  int problem = 0;
  socklen_t size = sizeof problem;
  getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &problem, &size);
  return problem;
}

}  // namespace

Result<std::unique_ptr<ApiStream>> ConnectPlain(const net::Endpoint& server,
                                                std::chrono::milliseconds timeout) {
  const Result<net::SocketAddress> address = net::ToSocketAddress(server);
  if (!address) return address.error();
  Descriptor plain(
      socket(address->storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!plain.is_open()) return Reason(errno);
  if (connect(plain.get(), address->get(), address->size) != 0) {
    const int problem = errno == EINPROGRESS ? Finish(plain, timeout) : errno;
    if (problem != 0) return Reason(problem);
  }
  const timeval most{.tv_sec = timeout.count() / 1000, .tv_usec = timeout.count() % 1000 * 1000};
  if (fcntl(plain.get(), F_SETFL, 0) != 0 ||
      setsockopt(plain.get(), SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most) != 0 ||
      setsockopt(plain.get(), SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most) != 0) {
    return Reason(errno);
  }
  return std::unique_ptr<ApiStream>(std::make_unique<PlainStream>(std::move(plain)));
}

ApiConnect ConnectAs(net::TlsClientOptions tls) {
  return [tls = std::move(tls)](
             const net::Endpoint& server,
             std::chrono::milliseconds timeout) -> Result<std::unique_ptr<ApiStream>> {
    if (!server.tls) return ConnectPlain(server, timeout);
    net::TlsClientOptions options = tls;
    options.timeout = timeout;
    Result<std::unique_ptr<net::TlsClient>> client = net::TlsClient::Connect(server, options);
    if (!client) return client.error();
    return std::unique_ptr<ApiStream>(std::make_unique<EncryptedStream>(std::move(*client)));
  };
}

}  // namespace weir
