#include "server/ratelimit_environment.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string_view>

#include "server/ratelimit_redis.h"
#include "server/ratelimit_variables.h"

namespace weir {
namespace {

// Variables that change nothing here. Those of a line are told together.
struct Ignored {
  std::string_view name;  // or the beginning of several, if it ends in '_'
  std::string_view why;
};
constexpr std::string_view kOwnState =
    "weir keeps what it counts by itself (--state), and begins to count anew";
constexpr std::string_view kOneRedis =
    "each thread has one connection to Redis, and all limits are in the same";
constexpr std::string_view kMetrics = "weir sends no metrics, they are fetched from /metrics";
constexpr std::string_view kTracing = "weir sends no traces";
constexpr std::string_view kDebug = "/rlconfig is on the port of HTTP";
constexpr std::string_view kLogs = "the log has --log-level and --log-format";
constexpr std::string_view kCounted = "requests over their limit are counted, as there by default";
constexpr std::string_view kConnections = "connections may stay as long as they like";
constexpr std::string_view kNeedsRules = "weir starts when it has rules";
constexpr std::array kIgnored = std::to_array<Ignored>({
    {"BACKEND_TYPE", kOwnState},
    {"REDIS_", kOwnState},
    {"MEMCACHE_", kOwnState},
    {"CACHE_KEY_PREFIX", kOwnState},
    {"LOCAL_CACHE_SIZE_IN_BYTES", kOwnState},
    {"EXPIRATION_JITTER_MAX_SECONDS", kOwnState},
    {"STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT", kCounted},
    {"USE_STATSD", kMetrics},
    {"USE_DOG_STATSD", kMetrics},
    {"USE_DOG_STATSD_MOGRIFIERS", kMetrics},
    {"STATSD_", kMetrics},
    {"STATS_FLUSH_INTERVAL", kMetrics},
    {"EXTRA_TAGS", kMetrics},
    {"USE_PROMETHEUS", kMetrics},
    {"PROMETHEUS_", kMetrics},
    {"NEAR_LIMIT_RATIO", kMetrics},
    {"TRACING_", kTracing},
    {"DEBUG_HOST", kDebug},
    {"DEBUG_PORT", kDebug},
    {"LOG_LEVEL", kLogs},
    {"LOG_FORMAT", kLogs},
    {"GRPC_MAX_CONNECTION_AGE", kConnections},
    {"GRPC_MAX_CONNECTION_AGE_GRACE", kConnections},
    {"FORCE_START_WITHOUT_INITIAL_CONFIG", kNeedsRules},
});

bool IsCalled(const Ignored& ignored, std::string_view name) {
  return ignored.name.ends_with('_') ? name.starts_with(ignored.name) : name == ignored.name;
}

// What others rely on, and would miss only when it is too late.
void RefuseWhatIsMissing(RatelimitVariables& reader) {
  const std::string type = reader.Text("CONFIG_TYPE", "FILE");
  if (type == "GRPC_XDS_SOTW") {
    reader.Fail(
        "CONFIG_TYPE=GRPC_XDS_SOTW: rules come from files or from a database here, not from a "
        "control plane; set CONFIG_TYPE=FILE and RUNTIME_ROOT, or leave out "
        "--ratelimit-environment");
  } else if (type != "FILE") {
    reader.Fail("CONFIG_TYPE: there is FILE, got '" + type + "'");
  }
  if (reader.Flag("GRPC_SERVER_USE_TLS")) {
    reader.Fail(
        "GRPC_SERVER_USE_TLS: weir does not speak TLS; put a proxy in front of it, or set it to "
        "false");
  }
}

std::vector<std::string> NotesOn(const std::map<std::string, std::string>& variables,
                                 const std::set<std::string>& used) {
  std::vector<std::pair<std::string_view, std::string>> found;  // why, and which
  for (const Ignored& ignored : kIgnored) {
    const std::string_view why =
        ignored.name == "REDIS_" && !used.empty() ? kOneRedis : ignored.why;
    for (const auto& [name, value] : variables) {
      if (value.empty() || !IsCalled(ignored, name) || used.contains(name)) continue;
      if (found.empty() || found.back().first != why) found.emplace_back(why, "");
      std::string& names = found.back().second;
      names += (names.empty() ? "" : ", ") + name;
    }
  }
  std::vector<std::string> notes;
  notes.reserve(found.size());
  for (const auto& [why, names] : found) {
    notes.push_back(names + ": not used; " + std::string(why));
  }
  return notes;
}

}  // namespace

Result<RatelimitEnvironment> ReadRatelimitEnvironment(
    const std::map<std::string, std::string>& variables, const ServeOptions& options) {
  RatelimitVariables reader(variables);
  const Result<RatelimitRedis> redis = ReadRatelimitRedis(variables, options.cluster);
  if (!redis) return redis.error();
  RatelimitEnvironment environment{options, NotesOn(variables, redis->used)};
  ServeOptions& to = environment.options;
  to.cluster = redis->cluster;
  RefuseWhatIsMissing(reader);
  to.http = reader.Address("HOST", "PORT", "8080");
  const std::string socket = reader.Text("GRPC_UDS", "");
  to.grpc = socket.empty() ? reader.Address("GRPC_HOST", "GRPC_PORT", "8081") : "unix:" + socket;
  // RUNTIME_WATCH_ROOT tells what is watched there; here it is all links on the way.
  const std::filesystem::path root = reader.Text("RUNTIME_ROOT", "/srv/runtime_data/current");
  to.rules = (root / reader.Text("RUNTIME_SUBDIRECTORY", "") /
              reader.Text("RUNTIME_APPDIRECTORY", "config"))
                 .lexically_normal()
                 .string();
  to.merge_domains = reader.Flag("MERGE_DOMAIN_CONFIG");
  RateLimitOptions& rate_limit = to.rate_limit;
  rate_limit.modes.shadow_mode = reader.Flag("SHADOW_MODE");
  rate_limit.modes.quota_mode = reader.Flag("QUOTA_MODE");
  rate_limit.dynamic_metadata = reader.Flag("RESPONSE_DYNAMIC_METADATA");
  rate_limit.response_headers = reader.Flag("LIMIT_RESPONSE_HEADERS_ENABLED");
  rate_limit.limit_header = reader.Text("LIMIT_LIMIT_HEADER", rate_limit.limit_header);
  rate_limit.remaining_header = reader.Text("LIMIT_REMAINING_HEADER", rate_limit.remaining_header);
  rate_limit.reset_header = reader.Text("LIMIT_RESET_HEADER", rate_limit.reset_header);
  if (reader.error()) return *reader.error();
  return environment;
}

std::map<std::string, std::string> EnvironmentVariables() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

}  // namespace weir
