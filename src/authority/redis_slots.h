// Where a Redis Cluster keeps a key: its slot, who has which slots, and what a node says that is
// asked for a slot it does not have.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "net/endpoint.h"
#include "wire/resp_value.h"

namespace weir::authority {

inline constexpr std::size_t kRedisSlots = 16'384;

// CRC16 of the key, or of what is between its first { and the next }, if there is something.
std::uint16_t SlotOf(std::string_view key);

struct SlotRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
  net::Endpoint master;

  bool operator==(const SlotRange&) const = default;
};

// The answer to CLUSTER SLOTS of the node `asked`; nothing if it is none. A node that does not know
// by which address it is reached leaves that out: it means its own.
std::optional<std::vector<SlotRange>> ReadSlots(wire::RespValue answer, const net::Endpoint& asked);

// The answer of a Sentinel to who the master is, as a map of one range.
std::optional<std::vector<SlotRange>> ReadMaster(wire::RespValue answer);

// Ask elsewhere: from now on, or just for this once, because the key is on its way there.
struct Redirection {
  enum class Kind : std::uint8_t { kMoved, kAsk };

  Kind kind = Kind::kMoved;
  std::uint16_t slot = 0;
  net::Endpoint to;

  bool operator==(const Redirection&) const = default;
};

// "MOVED 3999 127.0.0.1:6381"; nothing if it is another error.
std::optional<Redirection> ReadRedirection(std::string_view error, const net::Endpoint& asked);

}  // namespace weir::authority
