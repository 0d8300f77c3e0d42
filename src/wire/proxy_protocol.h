// The PROXY protocol, versions 1 (text) and 2 (binary): what a load balancer that passes bytes on
// says in front of them about who connected to it.
//
//   PROXY TCP4 203.0.113.7 192.0.2.1 56324 443\r\n
//
// It is never guessed whether a connection begins with it: net/listener_options.h says of whom it
// is expected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "rule/address.h"

namespace weir::wire {

enum class ProxyStatus : std::uint8_t {
  kNeedMore,  // what is there so far may be the beginning of a header
  kNotProxy,  // the bytes are something else
  kBad,       // they begin as a header, and are none
  kHeader,
};

struct ProxyEndpoint {
  rule::Address address;
  std::uint16_t port = 0;

  bool operator==(const ProxyEndpoint&) const = default;
};

struct ProxyHeader {
  ProxyStatus status = ProxyStatus::kNeedMore;
  std::size_t size = 0;  // kHeader: the bytes it takes; what follows is the connection's own
  // kHeader: both or none. None if the proxy speaks for itself (a health check) or cannot say:
  // then the connection's own addresses count.
  std::optional<ProxyEndpoint> source = std::nullopt;
  std::optional<ProxyEndpoint> destination = std::nullopt;

  bool operator==(const ProxyHeader&) const = default;
};

inline constexpr std::size_t kLongestProxyV1 = 107;  // bytes, as the protocol has it
inline constexpr std::size_t kLongestProxyV2 =
    16 + 4096;  // bytes; with extensions, which are skipped

// `bytes`: all that came so far, from the beginning of the connection. Asked again as more comes,
// it gives the same answer as for all at once, and after kLongestProxyV2 bytes never kNeedMore.
ProxyHeader ParseProxyHeader(std::string_view bytes);

}  // namespace weir::wire
