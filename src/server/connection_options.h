// What `weir serve` is told about connections: how many there may be, how long they may take, and
// who says in front of one for whom it is (the PROXY protocol).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "net/limits.h"
#include "net/listener_options.h"
#include "weir/result.h"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace weir {

// As it is written on the command line.
struct ConnectionOptions {
  std::size_t most = net::AdmissionLimits{}.connections;
  std::size_t most_per_peer = net::AdmissionLimits{}.connections_per_peer;
  std::string idle_timeout = "10m";
  std::string request_timeout = "10s";
  std::string drain_delay = "0s";
  std::vector<std::string> proxy_protocol = {};  // networks
};

void AddConnectionOptions(CLI::App& command, ConnectionOptions& options);

// As listeners want it. The error names the option.
struct ConnectionSettings {
  net::AdmissionLimits admission;
  net::ConnectionLimits limits;
  net::ProxyProtocol proxy_protocol;
  Nanos drain_delay{0};
};
Result<ConnectionSettings> Read(const ConnectionOptions& options);

// The networks of `texts`; the error begins with the name of the option they are from.
Result<std::vector<rule::Network>> ReadNetworks(const std::string& option,
                                                const std::vector<std::string>& texts);

// Lets the process have as many descriptors as it may, and says how many that are. Every connection
// takes one, and the usual soft limit of 1024 is from other times.
std::uint64_t RaiseDescriptorLimit();

}  // namespace weir
