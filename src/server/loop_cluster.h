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
#include "server/log.h"
#include "service/cluster.h"

namespace weir {

struct LoopCluster final : net::Companion {
  // `log` may be null.
  LoopCluster(net::Loop& loop, const ClusterSettings& settings, Log* log)
      : calls(loop, settings.redis),
        cluster(loop, authority, store,
                {.deadline = settings.deadline,
                 .seed = std::random_device()(),
                 .when_cut_off =
                     [this, log](bool is_cut_off) {
                       if (log != nullptr) Say(is_cut_off, *log);
                     }}),
        authority(calls),
        store(calls) {}

  void Leave(std::function<void()> done) override { cluster.Leave(std::move(done)); }

  void Say(bool is_cut_off, Log& log) const {
    if (is_cut_off) {
      log.Write(Event::kClusterLost, "limits that are shared are decided by on_error",
                {{"problem", calls.problem()}});
    } else {
      log.Write(Event::kClusterFound, "Redis answers again");
    }
  }

  authority::RedisCalls calls;
  Cluster cluster;  // is told by the next two what will not be answered any more
  authority::RedisAuthority authority;
  authority::RedisSwapStore store;
};

}  // namespace weir
