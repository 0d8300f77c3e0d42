// What `weir serve` is told about who may look into it and change it: tokens and the audit trail.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "service/audit.h"
#include "service/token_file.h"
#include "weir/result.h"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace weir {

// Instead of a folder: nothing survives the process.
inline constexpr std::string_view kStateInMemory = "memory";

// As it is written on the command line.
struct AccessOptions {
  std::string tokens = {};  // a file; empty: `tokens` in the folder of the state
  bool resp_auth = false;   // Redis clients have to say a token
};

void AddAccessOptions(CLI::App& command, AccessOptions& options);

// Where things are in the folder of the state.
std::string TokensIn(const std::string& state);
std::string AdminTokenIn(const std::string& state);  // the token itself, for its owner alone
std::string AuditIn(const std::string& state);

struct AccessParts {
  std::unique_ptr<TokenFile> tokens;  // null if there is no place for any: nobody is let in
  std::unique_ptr<Audit> audit;
  std::string banner;  // a line about it
};

// `state`: a folder that is there, or kStateInMemory. Where no tokens were ever made, one is, for
// who may read the folder: so that `weir status` works on the same machine without more ado.
Result<AccessParts> OpenAccess(const AccessOptions& options, const std::string& state);
// The same of what is there already: it makes nothing.
Result<AccessParts> CheckAccess(const AccessOptions& options, const std::string& state);

}  // namespace weir
