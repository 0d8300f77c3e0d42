// What an owner says about a place to listen on.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "net/handler.h"
#include "net/limits.h"
#include "rule/address.h"

namespace weir::net {

// From whom a PROXY header is expected, before anything else. It is never guessed: who is expected
// to send one and does not is cut off, and what anybody else sends is for the handler.
struct ProxyProtocol {
  enum class From : std::uint8_t { kNobody, kNetworks, kEverybody };
  From from = From::kNobody;
  std::vector<rule::Network> networks = {};  // kNetworks; nobody on a Unix socket is in one

  [[nodiscard]] bool IsExpectedFrom(const std::optional<rule::Address>& peer) const;
};

class TlsContext;

struct ListenerOptions {
  std::string address = {};  // see net/endpoint.h
  // Called for each connection, in the thread of any loop. No handler: the connection is dropped.
  HandlerFactory handlers = {};
  ConnectionLimits limits = {};
  ProxyProtocol proxy_protocol = {};
  // For a place that begins with `tls:`; outlives the server.
  const TlsContext* tls = nullptr;
  std::string protocol = {};  // inside TLS, as ALPN names it: "h2", "http/1.1"; empty: has no name
  int backlog = 4096;         // connections that wait to be accepted
  mode_t unix_mode = 0660;    // who may connect, if it is a Unix socket
};

}  // namespace weir::net
