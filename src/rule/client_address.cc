#include "rule/client_address.h"

#include <algorithm>

namespace weir::rule {
namespace {

// `steps`: how many hops are nearer than this one.
bool IsTrusted(const Address& hop, unsigned steps, const TrustedHops& trusted) {
  return steps < trusted.count ||
         std::any_of(trusted.networks.begin(), trusted.networks.end(),
                     [&hop](const Network& network) { return network.Contains(hop); });
}

}  // namespace

Address ClientAddress(const std::optional<Address>& peer, const std::optional<Address>& proxied,
                      HeaderFields fields, const TrustedHops& trusted) {
  ForwardedWalk entries(trusted.header, fields);
  Address here = peer ? *peer : Address::Parse("127.0.0.1").value();
  for (unsigned steps = 0; (steps == 0 && !peer) || IsTrusted(here, steps, trusted); ++steps) {
    const std::optional<Address> next = steps == 0 && proxied ? proxied : entries.Next();
    if (!next) break;
    here = *next;
  }
  return here;
}

bool IsOneStepAway(const std::optional<Address>& peer, const TrustedHops& trusted) {
  return trusted.header == ForwardedHeader::kXForwardedFor &&
         (!peer || IsTrusted(*peer, 0, trusted));
}

}  // namespace weir::rule
