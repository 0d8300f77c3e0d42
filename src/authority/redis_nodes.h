// The nodes of a Redis, one connection to each, and which of them has which slot.
//
// A single Redis is a cluster of one node that has all slots. Of a cluster some nodes are named;
// the others are learned from the map of slots and from redirections.
//
// Thread safety: the loop's thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "authority/redis_connection.h"
#include "authority/redis_slots.h"

namespace weir::authority {

class RedisNodes {
 public:
  RedisNodes(net::Loop& loop, const std::vector<net::Endpoint>& named,
             const RedisConnectionOptions& options, RedisConnection::Client& client);

  // Of a slot that nobody is known to have, any node: it will say who has it. Null if no node is
  // known yet.
  [[nodiscard]] RedisConnection* Of(std::uint16_t slot) { return of_slot_[slot]; }
  // Is made if there is none.
  RedisConnection& At(const net::Endpoint& endpoint);
  // The next one that is up, another one at each call; any if none is. REQUIRES: size() > 0
  RedisConnection& Next();

  void Move(std::uint16_t slot, RedisConnection& to) { of_slot_[slot] = &to; }
  // Connections to nodes that have no slot any more end, once nothing is under way there.
  void Assign(std::span<const SlotRange> ranges);

  // Answers all that is under way. Nothing is sent any more.
  void Close() { nodes_.clear(); }

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }

 private:
  [[nodiscard]] bool IsNamed(const RedisConnection& node) const;

  net::Loop& loop_;
  std::vector<net::Endpoint> named_;
  RedisConnectionOptions options_;
  RedisConnection::Client& client_;
  std::vector<std::unique_ptr<RedisConnection>> nodes_;
  std::vector<RedisConnection*> of_slot_;
  std::size_t next_ = 0;
};

}  // namespace weir::authority
