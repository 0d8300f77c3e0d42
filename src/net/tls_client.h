// The other end of TLS: a stream that says something and waits for the answer, for commands that
// ask a server. It believes nobody whose certificate is not good for the name it was asked to
// reach.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "net/endpoint.h"
#include "net/openssl.h"
#include "net/tls_client_settings.h"
#include "net/tls_socket.h"
#include "weir/result.h"

namespace weir::net {

// Thread safety: one thread.
class TlsClient {
 public:
  // The error says whom, and why not. A process that uses it need not ignore SIGPIPE.
  static Result<std::unique_ptr<TlsClient>> Connect(const Endpoint& endpoint,
                                                    const TlsClientOptions& options = {});
  ~TlsClient();  // says goodbye
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;

  // All of it.
  std::optional<Error> Send(std::string_view bytes);
  // At least a byte; 0: the server has said goodbye.
  Result<std::size_t> Receive(std::span<char> buffer);
  // The certificate of the server.
  [[nodiscard]] const X509& server_certificate() const;

 private:
  TlsClient(std::string name, Descriptor socket, openssl::Context context);
  std::optional<Error> Shake(const Endpoint& endpoint, const TlsClientOptions& options);
  [[nodiscard]] Error Failure(const char* what, int returned) const;

  std::string name_;  // of the server, for errors
  Descriptor socket_;
  TlsSocket tls_socket_;
  openssl::Context context_;
  openssl::Session session_;
};

}  // namespace weir::net
