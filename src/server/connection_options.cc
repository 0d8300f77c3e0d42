#include "server/connection_options.h"

#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <optional>

#include "base/text.h"

namespace weir {
namespace {

constexpr Nanos kLongestDrainDelay = std::chrono::hours(1);

// For all that is no connection: tables, rules, databases, the loops themselves.
constexpr std::uint64_t kDescriptorsForTheRest = 256;

Result<Nanos> ReadTimeout(const std::string& option, const std::string& text) {
  const Result<Nanos> time = ParseDuration(text);
  if (!time || *time <= Nanos(0)) {
    return Error{option + ": expected a time such as 10s or 5m, got '" + text + "'"};
  }
  return *time;
}

// As many as there can be descriptors for: to turn somebody away takes one too, and the rules must
// be readable however many have connected.
std::size_t WithinDescriptors(std::size_t connections) {
  rlimit descriptors{};
  if (getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return connections;
  const std::uint64_t all = descriptors.rlim_cur;
  const std::uint64_t rest = std::min<std::uint64_t>(kDescriptorsForTheRest, all / 2);
  return std::min<std::uint64_t>(connections, all - rest);
}

}  // namespace

void AddConnectionOptions(CLI::App& command, ConnectionOptions& options) {
  const std::string group = "Connections";
  const CLI::Range at_least_one(1, 100'000'000);
  command
      .add_option("--max-connections", options.most,
                  "How many there may be at once, in all; the next are closed")
      ->check(at_least_one)
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--max-connections-per-peer", options.most_per_peer,
                  "How many from one address, or one /64 of IPv6")
      ->check(at_least_one)
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--idle-timeout", options.idle_timeout,
                  "How long a connection may be silent between requests")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--request-timeout", options.request_timeout,
                  "How long a request may take from its first byte to its last")
      ->capture_default_str()
      ->group(group);
  command
      .add_option(
          "--drain-delay", options.drain_delay,
          "After SIGTERM: how long everything is still answered while /readyz says 503, for "
          "gateways to turn to others")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--proxy-protocol", options.proxy_protocol,
                  "Networks whose connections begin with a PROXY header, which says for whom "
                  "they are")
      ->group(group);
}

Result<ConnectionSettings> Read(const ConnectionOptions& options) {
  const Result<Nanos> idle = ReadTimeout("--idle-timeout", options.idle_timeout);
  if (!idle) return idle.error();
  const Result<Nanos> request = ReadTimeout("--request-timeout", options.request_timeout);
  if (!request) return request.error();
  const Result<Nanos> drain_delay = ParseDuration(options.drain_delay);
  if (!drain_delay || *drain_delay < Nanos(0) || *drain_delay > kLongestDrainDelay) {
    return Error{"--drain-delay: expected a time from 0s to 1h, got '" + options.drain_delay + "'"};
  }
  Result<std::vector<rule::Network>> proxies =
      ReadNetworks("--proxy-protocol", options.proxy_protocol);
  if (!proxies) return proxies.error();

  ConnectionSettings settings;
  settings.admission = {.connections = WithinDescriptors(options.most),
                        .connections_per_peer = options.most_per_peer};
  settings.limits.idle = *idle;
  settings.limits.request = *request;
  settings.drain_delay = *drain_delay;
  if (!proxies->empty()) {
    settings.proxy_protocol = {.from = net::ProxyProtocol::From::kNetworks,
                               .networks = std::move(*proxies)};
  }
  return settings;
}

Result<std::vector<rule::Network>> ReadNetworks(const std::string& option,
                                                const std::vector<std::string>& texts) {
  std::vector<rule::Network> networks;
  for (const std::string& text : texts) {
    const std::optional<rule::Network> network = rule::Network::Parse(text);
    if (!network) {
      return Error{std::string(option).append(": expected a network such as 10.0.0.0/8, got '") +
                   text + "'"};
    }
    networks.push_back(*network);
  }
  return networks;
}

std::uint64_t RaiseDescriptorLimit() {
  rlimit descriptors{};
  if (getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return 0;
  descriptors.rlim_cur = descriptors.rlim_max;
  static_cast<void>(setrlimit(RLIMIT_NOFILE, &descriptors));  // it may always be raised so far
  return descriptors.rlim_cur;
}

}  // namespace weir
