// Where the states of keys lie that many hosts change: compare, and swap all of them or none.
//
// A store keeps bytes and knows nothing of limits. Whoever changes a key has seen what it holds,
// decides what it is to hold instead, and swaps: if every key of the request still holds what was
// seen, they hold the new values from then on, in one step. If not, nothing is changed, and the
// reply says what they hold. So a race that is lost costs a round trip, never a wrong answer.
//
// The first kStampBytes of a value are its stamp, different for each value ever written: what was
// seen is told by that, however large the value is.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "authority/authority.h"
#include "weir/units.h"

namespace weir::authority {

inline constexpr std::size_t kStampBytes = 9;

struct SwapKey {
  std::string_view name;
  std::string_view seen;             // the stamp of what it held; empty if that was nothing
  std::string_view value;            // what it is to hold; empty: it is only looked at
  std::chrono::milliseconds ttl{0};  // of the value
};

struct SwapRequest {
  Ticket ticket = 0;
  std::span<const SwapKey> keys;  // of one place. REQUIRES: valid until Swap() returns
};

struct SwapReply {
  Outcome outcome = Outcome::kDone;
  bool is_as_seen = false;  // every key held what was seen, and holds its new value now
  Instant now{};            // by the clock of the store
  // If they do not hold what was seen: what they hold, in order; empty if that is nothing. Valid
  // during the call.
  std::span<const std::string_view> held{};
};

// Where replies arrive. Called on the thread that called Swap().
class SwapReplies {
 public:
  virtual ~SwapReplies() = default;
  virtual void OnReply(Ticket ticket, const SwapReply& reply) = 0;
};

class SwapStore {
 public:
  virtual ~SwapStore() = default;

  // Executes each of `requests` at most once, and tells `replies` of each exactly once: before this
  // returns or later, from the loop of the calling thread, in any order. As Authority::Sync().
  virtual void Swap(std::span<const SwapRequest> requests, SwapReplies& replies) = 0;

  // Keys of the same place can be in one request.
  [[nodiscard]] virtual std::uint16_t PlaceOf(std::string_view key) const = 0;
};

}  // namespace weir::authority
