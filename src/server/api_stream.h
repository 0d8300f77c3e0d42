// The connection that a command talks to a server over: bytes, one way and the other, blocking.
//
// An interface, so that others than a plain socket can stand there: TLS, or a test.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "net/endpoint.h"
#include "net/tls_client.h"
#include "weir/result.h"

namespace weir {

class ApiStream {
 public:
  virtual ~ApiStream() = default;
  // All of it.
  virtual std::optional<Error> Send(std::string_view bytes) = 0;
  // At least a byte; 0 if the server has closed its side.
  virtual Result<std::size_t> Receive(std::span<char> into) = 0;
};

// Errors are reasons, without the server's name. The timeout is for the connection, and for each
// time that nothing moves.
using ApiConnect = std::function<Result<std::unique_ptr<ApiStream>>(
    const net::Endpoint& server, std::chrono::milliseconds timeout)>;

Result<std::unique_ptr<ApiStream>> ConnectPlain(const net::Endpoint& server,
                                                std::chrono::milliseconds timeout);
// With TLS where the endpoint says so (tls:HOST:PORT), else plain. Of `tls` the timeout is the
// call's.
ApiConnect ConnectAs(net::TlsClientOptions tls);

}  // namespace weir
