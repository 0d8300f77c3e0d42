// What the clients of bench/server_rules.yaml ask for, and how each protocol says it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::bench {

// One request of one client, as a gateway sees it.
struct ClientRequest {
  std::string method;
  std::string path;
  std::string ip;
  std::string api_key;
  std::string plan;
  std::string page;  // that is looked at, where nothing is told but that and the address
};

enum class Popularity : std::uint8_t {
  kUniform,  // each of `clients` once, in any order
  kZipf,     // as many requests as there are clients, most of them by few
};
std::vector<ClientRequest> MakeTraffic(std::uint32_t clients, Popularity popularity);

enum class Dialect : std::uint8_t {
  kIncr,          // Redis: the least that could be called a limiter, one counter more
  kEvalSha,       // Redis: bench/peers/gcra.lua
  kCellThrottle,  // CL.THROTTLE key 1000 1000 1
  kWeirCheck,     // WEIR.CHECK shop ..., by rule
  kHttp,          // GET /check/..., as a gateway asks; also what nginx is asked
  kPageCheck,     // WEIR.CHECK shop path ... ip ...: one rule of the hundred has a say, one limit
  kPageHttp,      // the same over HTTP
  kGrpc,          // envoy.service.ratelimit.v3.RateLimitRequest: the message alone
};
// "incr", "evalsha", "cl.throttle", "weir.check", "http", "page.check", "page.http", "grpc".
std::optional<Dialect> DialectOf(std::string_view name);

// The bytes of a request. `script` is the digest that EVALSHA names.
std::string Encode(const ClientRequest& request, Dialect dialect, std::string_view script = {});

}  // namespace weir::bench
