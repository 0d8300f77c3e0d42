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
    case Ending::kSlowHandshake:
      return "slow_handshake";
    case Ending::kBadHandshake:
      return "bad_handshake";
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

std::string_view NameOf(HandshakeFailure failure) {
  switch (failure) {
    case HandshakeFailure::kNotTls:
      return "not_tls";
    case HandshakeFailure::kNothingInCommon:
      return "nothing_in_common";
    case HandshakeFailure::kNoClientCertificate:
      return "no_client_certificate";
    case HandshakeFailure::kClientCertificate:
      return "client_certificate";
    case HandshakeFailure::kClientName:
      return "client_name";
    case HandshakeFailure::kRefusedByClient:
      return "refused_by_client";
    case HandshakeFailure::kPeerLeft:
      return "peer_left";
    case HandshakeFailure::kOther:
      return "other";
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
  handshakes += other.handshakes;
  for (std::size_t i = 0; i < kEndings; ++i) closed[i] += other.closed[i];
  for (std::size_t i = 0; i < kHandshakeFailures; ++i) {
    handshake_failures[i] += other.handshake_failures[i];
  }
  return *this;
}

Totals Counters::Read() const {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  Totals totals{.accepted = accepted_.load(kRelaxed),
                .bytes_in = bytes_in_.load(kRelaxed),
                .bytes_out = bytes_out_.load(kRelaxed),
                .handshakes = handshakes_.load(kRelaxed)};
  for (std::size_t i = 0; i < kEndings; ++i) totals.closed[i] = closed_[i].load(kRelaxed);
  for (std::size_t i = 0; i < kHandshakeFailures; ++i) {
    totals.handshake_failures[i] = handshake_failures_[i].load(kRelaxed);
  }
  return totals;
}

}  // namespace weir::net
