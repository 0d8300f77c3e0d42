// What `weir serve` is told about the cluster it is in: the Redis that all its hosts share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "authority/redis_calls.h"
#include "weir/result.h"
#include "weir/units.h"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace weir {

// As it is written on the command line.
struct ClusterTold {
  std::vector<std::string> redis = {};  // addresses; empty: there is no cluster
  std::string kind = "server";
  std::string master = "mymaster";
  std::string user = {};
  std::string password = {};
  std::string sentinel_user = {};
  std::string sentinel_password = {};
  int database = 0;
  std::string prefix = "weir:";
  std::string deadline = "10ms";
  std::string clock = "redis";
  std::string tls_ca = {};
  std::string tls_name = {};
  std::string tls_certificate = {};
  std::string tls_key = {};
};

void AddClusterOptions(CLI::App& command, ClusterTold& options);

struct ClusterSettings {
  authority::RedisOptions redis;
  Nanos deadline{};
};
// Nothing: there is no cluster. The error names the option.
Result<std::optional<ClusterSettings>> Read(const ClusterTold& options);

}  // namespace weir
