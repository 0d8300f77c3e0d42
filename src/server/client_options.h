// What commands that ask a server have in common: which one, and with whose token.
#pragma once

#include <optional>
#include <string>

#include "server/api_client.h"
#include "server/json_value.h"
#include "server/streams.h"
#include "weir/result.h"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace weir {

// As it is written on the command line.
struct ClientOptions {
  std::string server = "127.0.0.1:8082";
  std::string token_file = {};
  std::string state = "weir-state";  // where the token of a server on this machine is
  std::string timeout = "10s";
  net::TlsClientOptions tls = {};  // of a server at tls:HOST:PORT
  bool json = false;
};

void AddClientOptions(CLI::App& command, ClientOptions& options);
// All but --server.
void AddTokenOptions(CLI::App& command, ClientOptions& options);

// The token is the one of --token-file, or else of the environment's WEIR_TOKEN, or else the one
// that a server on this machine keeps in its folder: that one goes to no other machine. None goes
// to another machine in plain text.
Result<ApiClient> ClientOf(const ClientOptions& options);

// What a server's refusal says to people: its detail and what else it lists.
std::string RefusalText(const wire::HttpAnswer& answer);
// Of a command that asked for it.
ExitCode CodeOf(const wire::HttpAnswer& answer);

// Asks, and tells what is wrong if something is: then there is no answer, and `code` says how. With
// --json, whatever the server said is printed as it is.
std::optional<JsonValue> AskServer(const ClientOptions& options, const ApiCall& call, Streams io,
                                   ExitCode& code);

}  // namespace weir
