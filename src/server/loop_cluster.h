// All that one loop needs to be in a cluster whose state lies in Redis.
#pragma once

#include <functional>
#include <random>
#include <utility>

#include "authority/redis_authority.h"
#include "authority/redis_calls.h"
#include "authority/redis_swap_store.h"
#include "net/companion.h"
#include "net/loop.h"
#include "server/cluster_options.h"
#include "service/cluster.h"

namespace weir {

struct LoopCluster final : net::Companion {
  LoopCluster(net::Loop& loop, const ClusterSettings& settings)
      : calls(loop, settings.redis),
        authority(calls),
        store(calls),
        cluster(loop, authority, store,
                {.deadline = settings.deadline, .seed = std::random_device()()}) {}

  void Leave(std::function<void()> done) override { cluster.Leave(std::move(done)); }

  authority::RedisCalls calls;
  authority::RedisAuthority authority;
  authority::RedisSwapStore store;
  Cluster cluster;
};

}  // namespace weir
