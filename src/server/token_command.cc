#include "server/token_command.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <ostream>
#include <vector>

#include "base/text.h"
#include "base/utc_time.h"
#include "rule/utf8.h"
#include "server/access_options.h"
#include "server/json_output.h"
#include "server/local_user.h"
#include "server/text_table.h"
#include "service/audit_log.h"
#include "service/token_file.h"

namespace weir {
namespace {

std::chrono::sys_seconds Now() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

// The error is for those who are in another folder than the server is.
Result<std::string> PathOf(const TokenOptions& options) {
  std::error_code ignored;
  if (!options.tokens.empty()) return options.tokens;
  if (std::filesystem::is_directory(options.state, ignored)) return TokensIn(options.state);
  return Error{"there is no folder " + options.state +
               "; --state names the server's, and --tokens a file anywhere"};
}

int Refuse(const Error& error, ExitCode code, Streams io) {
  io.err << "weir token: " << error.message << "\n";
  return code;
}

// In the trail of the server whose tokens these are. A file that belongs to no server has none.
std::optional<Error> Record(const TokenOptions& options, const char* action,
                            const std::string& detail) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(options.state, ignored)) return std::nullopt;
  Result<std::unique_ptr<AuditLog>> log = AuditLog::Open({.path = AuditIn(options.state)});
  if (!log) return log.error();
  return (*log)->Record({"local:" + LocalUser(), action, options.name, detail});
}

std::string Until(const TokenEntry& token) {
  return token.expires ? FormatUtc(*token.expires) : "never";
}

int CreateToken(const TokenOptions& options, Streams io) {
  const std::chrono::sys_seconds now = Now();
  TokenEntry entry{.digest = {},
                   .role = RoleOf(options.role).value_or(Role::kNone),
                   .name = options.name,
                   .created = now,
                   .expires = std::nullopt};
  if (!IsTokenName(options.name)) {
    return Refuse(
        {"a name has 1 to 64 letters, digits and ._-@, got '" + rule::Shown(options.name) + "'"},
        kUnreadable, io);
  }
  if (!options.expires.empty()) {
    const Result<Nanos> time = ParseDuration(options.expires);
    if (!time || *time < std::chrono::seconds(1)) {
      return Refuse({"--expires: expected a time such as 90d or 12h, got '" +
                     rule::Shown(options.expires) + "'"},
                    kUnreadable, io);
    }
    entry.expires = now + std::chrono::floor<std::chrono::seconds>(*time);
  }
  const Result<std::string> path = PathOf(options);
  if (!path) return Refuse(path.error(), kUnreadable, io);
  const std::string token = MakeToken();
  entry.digest = DigestOfToken(token);
  bool is_taken = false;
  const auto problem =
      EditTokens(*path, [&](std::vector<TokenEntry>& tokens) -> std::optional<Error> {
        is_taken = std::any_of(tokens.begin(), tokens.end(),
                               [&](const TokenEntry& other) { return other.name == entry.name; });
        if (is_taken) {
          return Error{"there is a token '" + entry.name + "' already; revoke it first"};
        }
        tokens.push_back(entry);
        return Record(options, "token.create",
                      "role " + options.role + ", expires " + Until(entry));
      });
  if (problem) return Refuse(*problem, is_taken ? kWrong : kUnreadable, io);
  if (options.json) {
    JsonOutput json(io.out);
    json.Object([&] {
      json.Key("name").Text(entry.name);
      json.Key("role").Text(options.role);
      json.Key("expires").TextOrNull(entry.expires ? Until(entry) : "");
      json.Key("token").Text(token);
    });
  } else {
    io.out << token << "\n";
    io.err << options.role << " '" << entry.name << "', expires: " << Until(entry)
           << "; it is not shown again\n";
  }
  return kDone;
}

int ListTokens(const TokenOptions& options, Streams io) {
  const Result<std::string> path = PathOf(options);
  if (!path) return Refuse(path.error(), kUnreadable, io);
  const Result<std::vector<TokenEntry>> tokens = LoadTokens(*path);
  if (!tokens) return Refuse(tokens.error(), kUnreadable, io);
  if (options.json) {
    JsonOutput json(io.out);
    json.List(*tokens, [&](const TokenEntry& token) {
      json.Object([&] {
        json.Key("name").Text(token.name);
        json.Key("role").Text(NameOf(token.role));
        json.Key("created").Text(FormatUtc(token.created));
        json.Key("expires").TextOrNull(token.expires ? Until(token) : "");
        json.Key("expired").Flag(token.IsExpired(Now()));
      });
    });
    return kDone;
  }
  if (tokens->empty()) {
    io.out << "there are no tokens in " << *path << "\n";
    return kDone;
  }
  std::vector<TextRow> rows = {{"NAME", "ROLE", "CREATED", "EXPIRES"}};
  for (const TokenEntry& token : *tokens) {
    rows.push_back({token.name, std::string(NameOf(token.role)), FormatUtc(token.created),
                    Until(token) + (token.IsExpired(Now()) ? " (it has)" : "")});
  }
  PrintTable(rows, io.out);
  return kDone;
}

int RevokeToken(const TokenOptions& options, Streams io) {
  const Result<std::string> path = PathOf(options);
  if (!path) return Refuse(path.error(), kUnreadable, io);
  bool is_missing = false;
  const auto problem =
      EditTokens(*path, [&](std::vector<TokenEntry>& tokens) -> std::optional<Error> {
        is_missing = std::erase_if(tokens, [&](const TokenEntry& token) {
                       return token.name == options.name;
                     }) == 0;
        if (is_missing) {
          return Error{"there is no token '" + rule::Shown(options.name) +
                       "'; `weir token list` shows those there are"};
        }
        return Record(options, "token.revoke", "");
      });
  if (problem) return Refuse(*problem, is_missing ? kWrong : kUnreadable, io);
  io.out << "revoked " << options.name << "; a server refuses it within a second\n";
  return kDone;
}

}  // namespace

TokenCommand::TokenCommand(CLI::App& app) {
  CLI::App* token = app.add_subcommand("token", "Makes and revokes tokens for the admin API");
  token->require_subcommand(1);
  CLI::App* create = Add(*token, "create", "Makes a token and prints it, this once", CreateToken);
  create->add_option("NAME", options_.name, "Whose it is, for the audit trail")->required();
  create
      ->add_option("--role", options_.role,
                   "viewer: may look; editor: may change rules and keys; admin: may read the audit "
                   "trail too")
      ->required()
      ->check(CLI::IsMember({"viewer", "editor", "admin"}));
  create->add_option("--expires", options_.expires, "After this time: 90d, 12h. Left out: never");
  CLI::App* list = Add(*token, "list", "Lists tokens, not what they are", ListTokens);
  CLI::App* revoke = Add(*token, "revoke", "Makes a token worth nothing", RevokeToken);
  revoke->add_option("NAME", options_.name, "Whose")->required();
  for (CLI::App* command : {create, list}) {
    command->add_flag("--json", options_.json, "Print JSON");
  }
}

CLI::App* TokenCommand::Add(CLI::App& token, const char* name, const char* description,
                            int (*command)(const TokenOptions&, Streams)) {
  CLI::App* added = token.add_subcommand(name, description);
  added->footer(
      "Exit codes: 0 done, 1 there is such a name already, or none, 2 a file cannot be read or "
      "written, or\nthe command line makes no sense.");
  added->add_option("--state", options_.state, "The folder of the server's state")
      ->envname("WEIR_STATE")
      ->capture_default_str();
  added->add_option("--tokens", options_.tokens, "The file of tokens, if it is not there");
  added->callback(
      [this, command] { chosen_ = [this, command](Streams io) { return command(options_, io); }; });
  return added;
}

}  // namespace weir
