// A real Redis Cluster for tests: three masters with a replica each, on free ports of 127.0.0.1.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "net/endpoint.h"
#include "tests/redis_server.h"

namespace weir {

class RedisCluster {
 public:
  // Takes some seconds: nodes meet by gossip.
  RedisCluster();

  [[nodiscard]] std::vector<net::Endpoint> endpoints() const;
  // The master of a slot, as the nodes that run see it.
  RedisServer& MasterOf(std::uint16_t slot);
  // Any other master.
  RedisServer& OtherThan(const RedisServer& master);
  // Ends the move of a slot, until all nodes believe so. If the next move began earlier, two
  // masters might claim slots with the same epoch, and each believe for good that the other one has
  // them.
  void EndMove(std::uint16_t slot, RedisServer& from, RedisServer& to);
  // Until every write of a master is at its replica.
  void AwaitReplicas();
  // Asks the master of the key.
  std::string Ask(const std::string& key, const std::vector<std::string>& words);

 private:
  // Whether all nodes (all must run) believe the same of who has what.
  bool Agree();
  RedisServer& At(const net::Endpoint& endpoint);

  std::array<RedisServer, 6> nodes_;
};

}  // namespace weir
