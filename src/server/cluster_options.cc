#include "server/cluster_options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <utility>

#include "base/text.h"

namespace weir {
namespace {

using authority::RedisKind;

std::optional<RedisKind> KindOf(std::string_view word) {
  if (word == "server") return RedisKind::kServer;
  if (word == "cluster") return RedisKind::kCluster;
  if (word == "sentinel") return RedisKind::kSentinels;
  return std::nullopt;
}

std::uint64_t MicrosOfThisHost() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

// Either all of them are to be spoken to with TLS, or none.
std::optional<Error> ReadTls(const ClusterTold& options, authority::RedisOptions& redis) {
  const auto is_tls = [](const net::Endpoint& endpoint) { return endpoint.tls; };
  const auto encrypted = std::count_if(redis.endpoints.begin(), redis.endpoints.end(), is_tls);
  if (encrypted != 0 && static_cast<std::size_t>(encrypted) != redis.endpoints.size()) {
    return Error{"--redis: write tls: in front of all addresses, or of none"};
  }
  if (options.tls_certificate.empty() != options.tls_key.empty()) {
    return Error{"--redis-tls-certificate and --redis-tls-key go together"};
  }
  const bool has_options =
      !options.tls_ca.empty() || !options.tls_name.empty() || !options.tls_key.empty();
  if (encrypted == 0) {
    if (!has_options) return std::nullopt;
    return Error{"--redis: write tls:HOST:PORT, or leave out the options of TLS"};
  }
  // Nodes that are learned of later are named without it.
  for (net::Endpoint& endpoint : redis.endpoints) endpoint.tls = false;
  redis.connection.tls = {.ca = options.tls_ca,
                          .server_name = options.tls_name,
                          .certificate = options.tls_certificate,
                          .key = options.tls_key};
  return std::nullopt;
}

}  // namespace

void AddClusterOptions(CLI::App& command, ClusterTold& options) {
  const std::string group = "Cluster";
  command
      .add_option(
          "--redis", options.redis,
          "The Redis that all hosts of a cluster share: HOST:PORT, tls:HOST:PORT or unix:PATH; "
          "several for nodes of a Redis Cluster or for Sentinels")
      ->group(group);
  command
      .add_option("--redis-kind", options.kind,
                  "What these are: server, cluster (some of its nodes), sentinel")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--redis-master", options.master, "The name by which Sentinels know the master")
      ->capture_default_str()
      ->group(group);
  command.add_option("--redis-user", options.user, "Who to be (ACL); by default Redis's default")
      ->group(group);
  command.add_option("--redis-password", options.password, "What to say (AUTH)")->group(group);
  command.add_option("--redis-sentinel-user", options.sentinel_user, "The same, to Sentinels")
      ->group(group);
  command
      .add_option("--redis-sentinel-password", options.sentinel_password, "The same, to Sentinels")
      ->group(group);
  command
      .add_option("--redis-database", options.database, "Its number; a Redis Cluster has only 0")
      ->check(CLI::Range(0, 65'535))
      ->capture_default_str()
      ->group(group);
  command.add_option("--redis-prefix", options.prefix, "What all keys begin with")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--redis-deadline", options.deadline,
                  "How long a decision may wait for Redis; then on_error of its rule decides")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--redis-clock", options.clock,
                  "Whose time counts: redis, or host where scripts may not ask for it")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--redis-tls-ca", options.tls_ca,
                  "A file (PEM): who vouches for Redis's certificate; by default the system's")
      ->group(group);
  command
      .add_option("--redis-tls-name", options.tls_name,
                  "The name its certificate must have; by default the host that is asked")
      ->group(group);
  command
      .add_option("--redis-tls-certificate", options.tls_certificate,
                  "A file (PEM): a certificate of our own, for a Redis that asks for it")
      ->group(group);
  command.add_option("--redis-tls-key", options.tls_key, "A file (PEM): its key")->group(group);
}

Result<std::optional<ClusterSettings>> Read(const ClusterTold& options) {
  if (options.redis.empty()) return std::optional<ClusterSettings>();
  ClusterSettings settings;
  authority::RedisOptions& redis = settings.redis;
  const std::optional<RedisKind> kind = KindOf(options.kind);
  if (!kind) {
    return Error{"--redis-kind: there is server, cluster and sentinel, got '" + options.kind + "'"};
  }
  redis.kind = *kind;
  for (const std::string& text : options.redis) {
    Result<net::Endpoint> endpoint = net::Endpoint::Parse(text);
    if (!endpoint) {
      return Error{"--redis: '" + text + "' is no address of a Redis; write 10.0.0.5:6379, " +
                   "unix:/run/redis.sock or tls:10.0.0.5:6380"};
    }
    redis.endpoints.push_back(std::move(*endpoint));
  }
  if (redis.kind == RedisKind::kServer && redis.endpoints.size() > 1) {
    return Error{"--redis: one server has one address, got " +
                 std::to_string(redis.endpoints.size()) +
                 "; write --redis-kind cluster or sentinel if they are"};
  }
  if (redis.kind == RedisKind::kCluster && options.database != 0) {
    return Error{"--redis-database: a Redis Cluster has only 0, got " +
                 std::to_string(options.database)};
  }
  if (auto problem = ReadTls(options, redis)) return *problem;
  redis.master_name = options.master;
  redis.connection.login = {options.user, options.password, options.database};
  redis.sentinel_login = {options.sentinel_user, options.sentinel_password, 0};
  redis.prefix = options.prefix;
  if (options.clock == "host") {
    redis.clock = MicrosOfThisHost;
  } else if (options.clock != "redis") {
    return Error{"--redis-clock: there is redis and host, got '" + options.clock + "'"};
  }
  const Result<Nanos> deadline = ParseDuration(options.deadline);
  if (!deadline || *deadline < std::chrono::milliseconds(1)) {
    return Error{"--redis-deadline: expected a time of at least 1ms, such as 10ms, got '" +
                 options.deadline + "'"};
  }
  settings.deadline = *deadline;
  return std::optional(std::move(settings));
}

}  // namespace weir
