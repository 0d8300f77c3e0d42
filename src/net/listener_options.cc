#include "net/listener_options.h"

#include <algorithm>

namespace weir::net {

bool ProxyProtocol::IsExpectedFrom(const std::optional<rule::Address>& peer) const {
  switch (from) {
    case From::kNobody:
      return false;
    case From::kEverybody:
      return true;
    case From::kNetworks:
      break;
  }
  return peer && std::any_of(networks.begin(), networks.end(),
                             [&](const rule::Network& network) { return network.Contains(*peer); });
}

}  // namespace weir::net
