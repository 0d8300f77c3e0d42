// What a connection may use up: memory and time.
#pragma once

#include <chrono>
#include <cstddef>

#include "weir/units.h"

namespace weir::net {

// Nanos::max() is "as long as it likes".
struct ConnectionLimits {
  // Bytes of a request that is not complete. Who sends more without completing it is cut off.
  std::size_t unread_bytes = std::size_t{1} << 20;
  // Bytes of answers after which a handler should stop until they have gone out.
  std::size_t unsent_bytes = std::size_t{256} << 10;

  Nanos proxy_header = std::chrono::seconds(5);  // from connecting to its last byte
  Nanos idle = std::chrono::minutes(10);         // between requests
  // From the first byte of a request to its last, however they trickle.
  Nanos request = std::chrono::seconds(10);
  // For the peer to take all of what is to be sent; meanwhile nothing more is read from it.
  Nanos reading = std::chrono::seconds(60);
  // After the last answer, for the peer to close too. To close first could destroy the answer: the
  // kernel resets a connection that is closed with something unread.
  Nanos farewell = std::chrono::seconds(2);
};

struct AdmissionLimits {
  std::size_t connections = 100'000;
  // An IPv6 peer is its /64: who has one address has them all.
  std::size_t connections_per_peer = 10'000;
};

}  // namespace weir::net
