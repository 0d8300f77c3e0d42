#include "server/client_options.h"

#include <fcntl.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <ostream>

#include "base/descriptor.h"
#include "base/text.h"
#include "net/endpoint.h"
#include "server/access_options.h"
#include "service/replace_file.h"
#include "wire/http_chars.h"

namespace weir {
namespace {

constexpr std::size_t kLongestTokenFile = 4096;

// The first line of a file. Nothing may be in it that could end a header field.
Result<std::string> ReadToken(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return FileError("read the token in", path);
  Result<std::string> text = ReadWhole(file, path, kLongestTokenFile);
  if (!text) return text.error();
  std::string token = text->substr(0, text->find_first_of("\r\n"));
  if (token.empty()) return Error{path + ": there is no token in its first line"};
  return token;
}

Result<std::string> FindToken(const ClientOptions& options, const net::Endpoint& server) {
  if (!options.token_file.empty()) return ReadToken(options.token_file);
  if (const char* token = std::getenv("WEIR_TOKEN"); token != nullptr) return std::string(token);
  if (!server.is_local()) return std::string();
  const Result<std::string> admin = ReadToken(AdminTokenIn(options.state));
  return admin ? *admin : std::string();  // the server says what is missing
}

}  // namespace

void AddClientOptions(CLI::App& command, ClientOptions& options) {
  command
      .add_option("--server", options.server, "Its --admin: HOST:PORT, tls:HOST:PORT or unix:PATH")
      ->envname("WEIR_SERVER")
      ->capture_default_str();
  AddTokenOptions(command, options);
  command.add_flag("--json", options.json, "Print what the server answers");
}

void AddTokenOptions(CLI::App& command, ClientOptions& options) {
  command.add_option("--token-file", options.token_file,
                     "Whose first line is the token; else WEIR_TOKEN is it, or the one in the "
                     "folder of a server on this machine");
  command.add_option("--state", options.state, "That folder")
      ->envname("WEIR_STATE")
      ->capture_default_str();
  command.add_option("--timeout", options.timeout, "How long to wait for the server")
      ->capture_default_str();
  const std::string group = "TLS";
  command.add_option("--tls-ca", options.tls.ca, "Who vouches for the server; else the system's")
      ->group(group);
  command
      .add_option("--tls-name", options.tls.server_name,
                  "What its certificate is for, if not for the host that is asked")
      ->group(group);
  CLI::Option* certificate =
      command
          .add_option("--tls-certificate", options.tls.certificate, "Our own, if it asks for one")
          ->group(group);
  CLI::Option* key =
      command.add_option("--tls-key", options.tls.key, "The key of it")->group(group);
  certificate->needs(key);
  key->needs(certificate);
}

Result<ApiClient> ClientOf(const ClientOptions& options) {
  const Result<Nanos> timeout = ParseDuration(options.timeout);
  if (!timeout || *timeout < std::chrono::milliseconds(1) || *timeout > std::chrono::hours(24)) {
    return Error{"--timeout: expected a time such as 10s, got '" + options.timeout + "'"};
  }
  const Result<net::Endpoint> server = net::Endpoint::Parse(options.server);
  if (!server) return Error{"--server: " + server.error().message};
  Result<std::string> token = FindToken(options, *server);
  if (!token) return token.error();
  if (!token->empty() && !server->tls && !server->is_local()) {
    return Error{"--server " + options.server +
                 ": the token would go there in plain text; write tls:" + options.server};
  }
  if (!std::all_of(token->begin(), token->end(), wire::IsFieldChar)) {
    return Error{"the token has characters that no token has; give it as weir token printed it"};
  }
  return ApiClient({.server = options.server,
                    .token = std::move(*token),
                    .timeout = std::chrono::ceil<std::chrono::milliseconds>(*timeout),
                    .connect = ConnectAs(options.tls)});
}

std::string RefusalText(const wire::HttpAnswer& answer) {
  const Result<JsonValue> body = JsonValue::Parse(answer.body);
  if (!body || (*body)["detail"].text.empty()) {
    return "the server answered with status " + std::to_string(answer.status);
  }
  return (*body)["detail"].text;
}

ExitCode CodeOf(const wire::HttpAnswer& answer) {
  switch (answer.status) {
    case 400:
    case 405:
    case 413:
    case 415:
    case 428:
      return kUnreadable;
    case 404:
    case 409:
    case 412:
    case 422:
      return kWrong;
    default:
      return answer.status < 300 ? kDone : kNoAnswer;
  }
}

std::optional<JsonValue> AskServer(const ClientOptions& options, const ApiCall& call, Streams io,
                                   ExitCode& code) {
  const Result<ApiClient> client = ClientOf(options);
  if (!client) {
    io.err << client.error().message << "\n";
    code = kUnreadable;
    return std::nullopt;
  }
  const Result<wire::HttpAnswer> answer = client->Ask(call);
  if (!answer) {
    io.err << answer.error().message << "\n";
    code = kNoAnswer;
    return std::nullopt;
  }
  code = CodeOf(*answer);
  if (options.json) io.out << answer->body << (answer->body.ends_with('\n') ? "" : "\n");
  if (code != kDone) {
    io.err << RefusalText(*answer) << "\n";
    return std::nullopt;
  }
  Result<JsonValue> body = JsonValue::Parse(answer->body);
  if (!body) {
    io.err << "what the server at " << options.server
           << " answers is no JSON: " << body.error().message << "\n";
    code = kNoAnswer;
    return std::nullopt;
  }
  return std::move(*body);
}

}  // namespace weir
