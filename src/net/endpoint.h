// Where to listen, as a configuration says it.
//
//   127.0.0.1:8080      one address
//   [::]:8080           all addresses, of IPv6 and IPv4
//   localhost:0         a name's address (of IPv4, if it has one); any port that is free
//   unix:/run/weir.sock a Unix socket
//   tls:[::]:8443       with TLS, in front of an address or name
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rule/address.h"
#include "weir/result.h"

namespace weir::net {

struct Endpoint {
  std::string host;  // without brackets; empty for a Unix socket
  std::uint16_t port = 0;
  std::string path;  // of a Unix socket; empty for TCP
  bool tls = false;

  // Text and nothing else: a name is looked up by ToSocketAddress().
  static Result<Endpoint> Parse(std::string_view text);

  [[nodiscard]] bool is_unix() const { return !path.empty(); }
  // Only who is on this host can reach it. A name is not looked up: `localhost` is known.
  [[nodiscard]] bool is_local() const;
  [[nodiscard]] std::string ToString() const;
  // Without `tls:`, as it stands in a URL.
  [[nodiscard]] std::string Authority() const;
  bool operator==(const Endpoint&) const = default;
};

// What the kernel calls an endpoint.
struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;

  [[nodiscard]] sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  [[nodiscard]] std::optional<rule::Address> address() const;  // none for a Unix socket
  [[nodiscard]] std::uint16_t port() const;
};

// May ask a name server. The error is a reason without the endpoint's name.
Result<SocketAddress> ToSocketAddress(const Endpoint& endpoint);

}  // namespace weir::net
