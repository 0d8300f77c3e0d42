// The environment variables of envoyproxy/ratelimit, so that Weir can take its place where that is
// configured already: `weir serve --ratelimit-environment`. docs/envoy.md lists them.
//
// They are read only if asked for: HOST and PORT are names that others use too.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "server/serve_options.h"
#include "weir/result.h"

namespace weir {

struct RatelimitEnvironment {
  ServeOptions options;
  // For the terminal: variables that are set and change nothing here, and why.
  std::vector<std::string> notes;
};

// What the variables say in place of what `options` does. A variable that is empty counts as not
// set. Fails if one makes no sense, or asks for what must not be left out silently.
Result<RatelimitEnvironment> ReadRatelimitEnvironment(
    const std::map<std::string, std::string>& variables, const ServeOptions& options = {});

// Of this process.
std::map<std::string, std::string> EnvironmentVariables();

}  // namespace weir
