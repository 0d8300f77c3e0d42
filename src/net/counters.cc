#include "net/counters.h"

#include <algorithm>

namespace weir::net {

std::string_view NameOf(Ending ending) {
  switch (ending) {
    case Ending::kPeerClosed:
      return "peer_closed";
    case Ending::kPeerLost:
      return "peer_lost";
    case Ending::kHandlerClosed:
      return "handler_closed";
    case Ending::kHandlerDropped:
      return "handler_dropped";
    case Ending::kHandlerFailed:
      return "handler_failed";
    case Ending::kIdle:
      return "idle";
    case Ending::kSlowRequest:
      return "slow_request";
    case Ending::kSlowReader:
      return "slow_reader";
    case Ending::kSlowProxyHeader:
      return "slow_proxy_header";
    case Ending::kBadProxyHeader:
      return "bad_proxy_header";
    case Ending::kRequestTooLarge:
      return "request_too_large";
    case Ending::kTooManyConnections:
      return "too_many_connections";
    case Ending::kTooManyFromPeer:
      return "too_many_from_peer";
    case Ending::kNoDescriptors:
      return "no_descriptors";
    case Ending::kServerStopped:
      return "server_stopped";
    case Ending::kServerCut:
      return "server_cut";
  }
  return "unknown";
}

std::uint64_t Totals::open_now() const {
  std::uint64_t gone = 0;
  for (const std::uint64_t count : closed) gone += count;
  // Read while it is counted, a connection may have ended that had not yet begun.
  return accepted - std::min(accepted, gone);
}

Totals& Totals::operator+=(const Totals& other) {
  accepted += other.accepted;
  bytes_in += other.bytes_in;
  bytes_out += other.bytes_out;
  for (std::size_t i = 0; i < kEndings; ++i) closed[i] += other.closed[i];
  return *this;
}

Totals Counters::Read() const {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  Totals totals{.accepted = accepted_.load(kRelaxed),
                .bytes_in = bytes_in_.load(kRelaxed),
                .bytes_out = bytes_out_.load(kRelaxed)};
  for (std::size_t i = 0; i < kEndings; ++i) totals.closed[i] = closed_[i].load(kRelaxed);
  return totals;
}

}  // namespace weir::net
