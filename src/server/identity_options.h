// What `weir serve` is told about telling clients apart: whose word counts for an address, and what
// proves a user. docs/clients.md
#pragma once

#include <string>
#include <vector>

#include "rule/client.h"
#include "weir/result.h"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace weir {

// As it is written on the command line.
struct IdentityOptions {
  // Who is believed when it speaks for others: about the request, and about where it came from.
  std::vector<std::string> gateways = {"127.0.0.0/8", "::1"};
  // Proxies in front of the gateways: passed over in the header, and believed in nothing else.
  std::vector<std::string> trusted_proxies = {};
  unsigned trusted_hops = 0;
  std::string forwarded = "x-forwarded-for";  // the header that they write

  std::string api_keys = {};  // a file: a digest and a user per line; empty: none
  std::string api_key_header = "x-api-key";
  std::vector<std::string> token_keys = {};  // ALGORITHM[/ID]=FILE
  std::string token_claim = "sub";
  std::string token_issuer = {};
  std::string token_audience = {};
  std::string token_leeway = "60s";
};

void AddIdentityOptions(CLI::App& command, IdentityOptions& options);

// Reads the files. The error names the option or the place in a file.
Result<rule::ClientOptions> Read(const IdentityOptions& options);

}  // namespace weir
