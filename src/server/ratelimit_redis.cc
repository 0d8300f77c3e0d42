#include "server/ratelimit_redis.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "net/endpoint.h"
#include "server/ratelimit_variables.h"

namespace weir {
namespace {

// "user:password", or a password alone.
void ReadCredentials(const std::string& text, std::string& user, std::string& password) {
  if (text.empty()) return;
  const std::size_t colon = text.find(':');
  if (colon != std::string::npos) user = text.substr(0, colon);
  password = colon != std::string::npos ? text.substr(colon + 1) : text;
}

std::vector<std::string> SplitAtCommas(std::string_view text) {
  std::vector<std::string> pieces;
  for (std::size_t comma = text.find(','); comma != std::string_view::npos;
       comma = text.find(',')) {
    pieces.emplace_back(text.substr(0, comma));
    text.remove_prefix(comma + 1);
  }
  pieces.emplace_back(text);
  return pieces;
}

// Splits REDIS_URL as its kind of Redis wants it.
std::optional<Error> ReadNodes(const std::string& type, const std::string& url, ClusterTold& to) {
  if (type == "SINGLE" || type == "single") {
    to.kind = "server";
    to.redis = {url};
  } else if (type == "CLUSTER" || type == "cluster") {
    to.kind = "cluster";
    to.redis = SplitAtCommas(url);
  } else if (type == "SENTINEL" || type == "sentinel") {
    to.kind = "sentinel";
    to.redis = SplitAtCommas(url);
    to.master = to.redis.front();
    to.redis.erase(to.redis.begin());
    if (to.redis.empty()) {
      return Error{
          "REDIS_URL: expected the master's name and then Sentinels, as in "
          "mymaster,10.0.0.1:26379, got '" +
          url + "'"};
    }
  } else {
    return Error{"REDIS_TYPE: there is SINGLE, SENTINEL and CLUSTER, got '" + type + "'"};
  }
  return std::nullopt;
}

}  // namespace

Result<RatelimitRedis> ReadRatelimitRedis(const std::map<std::string, std::string>& variables,
                                          const ClusterTold& told) {
  RatelimitRedis read{told, {}};
  RatelimitVariables reader(variables);
  const std::string url = reader.Text("REDIS_URL");
  if (url.empty() || !told.redis.empty()) return read;
  if (const std::string backend = reader.Text("BACKEND_TYPE", "redis"); backend != "redis") {
    return read;
  }
  ClusterTold& to = read.cluster;
  if (auto problem = ReadNodes(reader.Text("REDIS_TYPE", "SINGLE"), url, to)) return *problem;
  const std::string socket = reader.Text("REDIS_SOCKET_TYPE", "unix");
  if (socket != "unix" && socket != "tcp") {
    return Error{"REDIS_SOCKET_TYPE: there is unix and tcp, got '" + socket + "'"};
  }
  const bool is_tls = reader.Flag("REDIS_TLS");
  for (std::string& node : to.redis) {
    node.insert(0, socket == "unix" ? "unix:" : is_tls ? "tls:" : "");
    const Result<net::Endpoint> endpoint = net::Endpoint::Parse(node);
    if (!endpoint) return Error{"REDIS_URL: " + endpoint.error().message};
  }
  ReadCredentials(reader.Text("REDIS_AUTH"), to.user, to.password);
  ReadCredentials(reader.Text("REDIS_SENTINEL_AUTH"), to.sentinel_user, to.sentinel_password);
  if (is_tls) {
    to.tls_ca = reader.Text("REDIS_TLS_CACERT", told.tls_ca);
    to.tls_certificate = reader.Text("REDIS_TLS_CLIENT_CERT", told.tls_certificate);
    to.tls_key = reader.Text("REDIS_TLS_CLIENT_KEY", told.tls_key);
    if (reader.Flag("REDIS_TLS_SKIP_HOSTNAME_VERIFICATION")) {
      reader.Fail(
          "REDIS_TLS_SKIP_HOSTNAME_VERIFICATION: names are always verified; set it to false, and "
          "--redis-tls-name to the name in the certificate");
    }
  }
  if (reader.error()) return *reader.error();
  read.used = reader.used();
  return read;
}

}  // namespace weir
