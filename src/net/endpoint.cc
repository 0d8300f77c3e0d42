#include "net/endpoint.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "base/text.h"

namespace weir::net {
namespace {

constexpr std::string_view kUnix = "unix:";
constexpr std::string_view kTls = "tls:";
constexpr std::array<std::string_view, 2> kLoopback = {"127.0.0.0/8", "::1/128"};

Error NotAnEndpoint(std::string_view text, std::string_view reason) {
  return Error{"'" + std::string(text) + "' is no address to listen on: " + std::string(reason) +
               "; write 127.0.0.1:8080, [::]:8080, unix:/run/weir.sock or tls:[::]:8443"};
}

Result<SocketAddress> UnixAddress(const std::string& path) {
  SocketAddress result;
  auto* const address = reinterpret_cast<sockaddr_un*>(&result.storage);
  if (path.size() >= sizeof address->sun_path) {
    return Error{"the path is too long: the kernel takes " +
                 std::to_string(sizeof address->sun_path - 1) + " bytes"};
  }
  address->sun_family = AF_UNIX;
  path.copy(address->sun_path, path.size());  // the rest is zero
  result.size = sizeof *address;
  return result;
}

}  // namespace

Result<Endpoint> Endpoint::Parse(std::string_view text) {
  Endpoint endpoint;
  const std::string_view all = text;
  endpoint.tls = text.starts_with(kTls);
  if (endpoint.tls) text.remove_prefix(kTls.size());
  if (text.starts_with(kUnix)) {
    if (endpoint.tls) return NotAnEndpoint(all, "a Unix socket stays on its host and needs no TLS");
    endpoint.path = text.substr(kUnix.size());
    if (endpoint.path.empty()) return NotAnEndpoint(all, "it has no path");
    if (endpoint.path.find('\0') != std::string::npos) {
      return NotAnEndpoint(all, "its path has a zero byte");
    }
    return endpoint;
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return NotAnEndpoint(all, "it has no port");
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  const bool bracketed = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (host.empty()) return NotAnEndpoint(all, "it has no host");
  if (bracketed != (host.find(':') != std::string_view::npos)) {
    return NotAnEndpoint(all, "brackets belong around an IPv6 address, and only there");
  }
  if (bracketed && !rule::Address::Parse(host)) {
    return NotAnEndpoint(all, "'" + std::string(host) + "' is no IPv6 address");
  }
  const Result<std::uint64_t> number = ParseCount(port);
  if (!number.ok() || *number > 65535) {
    return NotAnEndpoint(all, "its port must be a number from 0 to 65535");
  }
  endpoint.host = host;
  endpoint.port = static_cast<std::uint16_t>(*number);
  return endpoint;
}

bool Endpoint::is_local() const {
  if (is_unix() || host == "localhost") return true;
  const std::optional<rule::Address> address = rule::Address::Parse(host);
  return address && std::any_of(kLoopback.begin(), kLoopback.end(), [&](std::string_view network) {
           return rule::Network::Parse(network)->Contains(*address);
         });
}

std::string Endpoint::ToString() const { return (tls ? std::string(kTls) : "") + Authority(); }

std::string Endpoint::Authority() const {
  if (is_unix()) return std::string(kUnix) + path;
  const bool is_v6 = host.find(':') != std::string::npos;
  return (is_v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::optional<rule::Address> SocketAddress::address() const {
  rule::Address::Bytes bytes{};
  if (storage.ss_family == AF_INET) {
    const auto& address = reinterpret_cast<const sockaddr_in&>(storage);
    bytes[10] = bytes[11] = 0xff;
    std::memcpy(&bytes[12], &address.sin_addr, 4);
    return rule::Address(bytes);
  }
  if (storage.ss_family == AF_INET6) {
    const auto& address = reinterpret_cast<const sockaddr_in6&>(storage);
    std::memcpy(bytes.data(), &address.sin6_addr, bytes.size());
    return rule::Address(bytes);
  }
  return std::nullopt;
}

std::uint16_t SocketAddress::port() const {
  if (storage.ss_family == AF_INET) {
    return ntohs(reinterpret_cast<const sockaddr_in&>(storage).sin_port);
  }
  if (storage.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6&>(storage).sin6_port);
  }
  return 0;
}

Result<SocketAddress> ToSocketAddress(const Endpoint& endpoint) {
  if (endpoint.is_unix()) return UnixAddress(endpoint.path);
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int error =
      getaddrinfo(endpoint.host.c_str(), std::to_string(endpoint.port).c_str(), &hints, &list);
  if (error != 0) return Error{std::string("no such host: ") + gai_strerror(error)};
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, freeaddrinfo);
  const addrinfo* chosen = list;
  while (chosen->ai_next != nullptr && chosen->ai_family != AF_INET) chosen = chosen->ai_next;
  if (chosen->ai_family != AF_INET) chosen = list;
  SocketAddress result;
  result.size = chosen->ai_addrlen;
  std::memcpy(&result.storage, chosen->ai_addr, chosen->ai_addrlen);
  return result;
}

}  // namespace weir::net
