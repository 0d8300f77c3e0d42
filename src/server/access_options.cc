#include "server/access_options.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <optional>
#include <utility>

#include "service/audit_log.h"
#include "service/replace_file.h"

namespace weir {
namespace {

constexpr char kFirstToken[] = "admin";

Result<std::unique_ptr<Audit>> OpenAudit(const std::string& state) {
  if (state == kStateInMemory) return std::unique_ptr<Audit>(std::make_unique<AuditMemory>());
  Result<std::unique_ptr<AuditLog>> log = AuditLog::Open({.path = AuditIn(state)});
  if (!log) return log.error();
  return std::unique_ptr<Audit>(std::move(*log));
}

// The token is written down before its digest is: who is killed in between makes another next time.
std::optional<Error> MakeFirstToken(const std::string& state, Audit& audit) {
  const std::string token = MakeToken();
  return EditTokens(TokensIn(state), [&](std::vector<TokenEntry>& tokens) -> std::optional<Error> {
    if (auto problem = audit.Record({"weir", "token.create", kFirstToken,
                                     "role admin, at the first start: " + AdminTokenIn(state)})) {
      return problem;
    }
    if (auto problem = ReplaceFile(AdminTokenIn(state), token + "\n", 0600)) return problem;
    const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
    tokens.push_back({DigestOfToken(token), Role::kAdmin, kFirstToken, now, std::nullopt});
    return std::nullopt;
  });
}

}  // namespace

void AddAccessOptions(CLI::App& command, AccessOptions& options) {
  const std::string group = "Access";
  command
      .add_option("--tokens", options.tokens,
                  "The file that says whose tokens may call the admin API, as `weir token` writes "
                  "it; by default in the folder of the state")
      ->group(group);
  command
      .add_flag("--resp-auth", options.resp_auth,
                "Redis clients have to say one of these tokens (AUTH), or the password")
      ->group(group);
}

std::string TokensIn(const std::string& state) { return state + "/tokens"; }
std::string AdminTokenIn(const std::string& state) { return state + "/admin-token"; }
std::string AuditIn(const std::string& state) { return state + "/audit.jsonl"; }

Result<AccessParts> OpenAccess(const AccessOptions& options, const std::string& state) {
  AccessParts parts;
  Result<std::unique_ptr<Audit>> audit = OpenAudit(state);
  if (!audit) return audit.error();
  parts.audit = std::move(*audit);

  const bool in_memory = state == kStateInMemory;
  if (options.tokens.empty() && in_memory) {
    if (options.resp_auth) {
      return Error{"--resp-auth: a state in memory keeps no tokens; name a file with --tokens"};
    }
    parts.banner = "tokens none: nobody may call the admin API without --tokens FILE\n";
    return parts;
  }
  const std::string path = options.tokens.empty() ? TokensIn(state) : options.tokens;
  std::error_code ignored;
  const bool exists = std::filesystem::exists(path, ignored);
  if (!exists && !options.tokens.empty()) {
    return Error{"--tokens: there is no file " + path +
                 "; `weir token create NAME --role admin --tokens " + path + "` makes it"};
  }
  parts.banner = "tokens in " + path + "\n";
  if (!exists) {
    if (auto problem = MakeFirstToken(state, *parts.audit)) return *problem;
    parts.banner =
        "tokens in " + path + "; the first, an admin's, is in " + AdminTokenIn(state) + "\n";
  }
  Result<std::unique_ptr<TokenFile>> tokens = TokenFile::Open(
      {.path = path, .tell = [](auto& what) { std::cerr << "tokens: " << what << "\n"; }});
  if (!tokens) return tokens.error();
  parts.tokens = std::move(*tokens);
  return parts;
}

Result<AccessParts> CheckAccess(const AccessOptions& options, const std::string& state) {
  AccessOptions named = options;
  if (named.tokens.empty() && state != kStateInMemory) {
    named.tokens = TokensIn(state);
    std::error_code ignored;
    if (!std::filesystem::exists(named.tokens, ignored)) return AccessParts();
  }
  return OpenAccess(named, std::string(kStateInMemory));
}

}  // namespace weir
