// Which address a request comes from, when proxies stand in between.
//
// The walk starts at the connection's address. While the address it stands at is a trusted hop, it
// takes one step to the left: to what the PROXY protocol said, then through the entries of a header
// from right to left. It stops at the first address that is not trusted: that is the client, as
// somebody trusted saw it.
//
//   X-Forwarded-For: 6.6.6.6, 203.0.113.7, 10.0.0.2     connection from 10.0.0.1
//                    invented ^ client     ^ trusted <--- trusted <--- start
//
// Where a trusted hop names no address ("unknown", garbage, nothing), the walk stops at that hop:
// its clients then share one key. To go on would let a client choose its key by what it writes at
// the left, a new one for every request.
#pragma once

#include <optional>
#include <vector>

#include "rule/address.h"
#include "rule/forwarded.h"
#include "rule/header_field.h"

namespace weir::rule {

struct TrustedHops {
  // Proxies known by their addresses.
  std::vector<Network> networks;
  // So many proxies stand in front whatever their addresses, as with a load balancer of a cloud:
  // with 1, whoever connects is trusted, and the rightmost entry is the client. Only for a port
  // that nobody else can reach: who can connect to it directly is trusted too.
  unsigned count = 0;
  // The one header that the trusted hops write. Others come from the client.
  ForwardedHeader header = ForwardedHeader::kNone;
};

// `peer`: none on a Unix socket, where whoever can connect is trusted; it counts as 127.0.0.1.
// `proxied`: what the PROXY protocol said on this connection, if it said anything.
Address ClientAddress(const std::optional<Address>& peer, const std::optional<Address>& proxied,
                      HeaderFields fields, const TrustedHops& trusted);

// Most of the time there is one X-Forwarded-For, with one address of IPv4 in it, and whoever
// connects is trusted. Then the walk ends there, whether that one is trusted or not. Whether it is
// so as far as the connection goes, if the PROXY protocol said nothing.
bool IsOneStepAway(const std::optional<Address>& peer, const TrustedHops& trusted);

}  // namespace weir::rule
