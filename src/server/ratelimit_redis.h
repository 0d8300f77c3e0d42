// The Redis that envoyproxy/ratelimit is told of by its environment, as the one that hosts of Weir
// share. A part of ratelimit_environment.h, for its own use.
#pragma once

#include <map>
#include <set>
#include <string>

#include "server/cluster_options.h"
#include "weir/result.h"

namespace weir {

struct RatelimitRedis {
  ClusterTold cluster;         // as `told`, if no Redis is named, or `told` names one
  std::set<std::string> used;  // the variables that say something here
};

Result<RatelimitRedis> ReadRatelimitRedis(const std::map<std::string, std::string>& variables,
                                          const ClusterTold& told);

}  // namespace weir
