#include "server/identity_options.h"

#include <CLI/CLI.hpp>
#include <array>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include "base/text.h"
#include "rule/forwarded.h"
#include "rule/token_key.h"
#include "server/connection_options.h"

namespace weir {
namespace {

using rule::ForwardedHeader;
using rule::TokenAlgorithm;

constexpr std::array<std::pair<std::string_view, ForwardedHeader>, 3> kHeaders = {
    {{"x-forwarded-for", ForwardedHeader::kXForwardedFor},
     {"forwarded", ForwardedHeader::kForwarded},
     {"none", ForwardedHeader::kNone}}};

constexpr std::array kAlgorithms = {TokenAlgorithm::kHs256, TokenAlgorithm::kRs256,
                                    TokenAlgorithm::kEs256, TokenAlgorithm::kEdDsa};

Result<std::string> ReadFile(const std::string& option, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  // A directory can be opened, and not read; an empty file sets the stream's failure bit too.
  if (!file || (file.peek() == std::ifstream::traits_type::eof() && file.bad())) {
    return Error{option + ": cannot read " + path + ": " +
                 std::error_code(errno, std::generic_category()).message()};
  }
  text << file.rdbuf();
  return text.str();
}

// A digest and a user per line; `#` begins a comment.
Result<rule::ApiKeys> ReadApiKeys(const std::string& path) {
  const Result<std::string> text = ReadFile("--api-keys", path);
  if (!text) return text.error();
  std::vector<rule::ApiKeys::Source> sources;
  std::stringstream lines(*text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    const std::size_t blank = line.find_first_of(" \t", begin);
    const std::size_t user =
        blank == std::string::npos ? blank : line.find_first_not_of(" \t\r", blank);
    if (user == std::string::npos) {
      return Error{path + ":" + std::to_string(number) +
                   ": expected the SHA-256 of an API key and a user, got one word"};
    }
    const std::size_t end = line.find_last_not_of(" \t\r") + 1;
    sources.push_back({line.substr(begin, blank - begin), line.substr(user, end - user)});
    // One by one first, so that the error has a line.
    if (const auto alone = rule::ApiKeys::Make({&sources.back(), 1}); !alone) {
      return Error{path + ":" + std::to_string(number) + ": " + alone.error().message};
    }
  }
  Result<rule::ApiKeys> keys = rule::ApiKeys::Make(sources);
  if (!keys) return Error{path + ": " + keys.error().message};
  if (keys->empty()) return Error{"--api-keys: there are no keys in " + path};
  return keys;
}

// "RS256=issuer.pem", "ES256/key-7=issuer.pem"
Result<rule::TokenKeySource> ReadTokenKey(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::size_t slash = std::min(text.find('/'), equals);
  std::optional<TokenAlgorithm> algorithm;
  for (const TokenAlgorithm one : kAlgorithms) {
    if (text.substr(0, slash) == rule::NameOf(one)) algorithm = one;
  }
  if (!algorithm || equals == std::string::npos || equals + 1 == text.size()) {
    return Error{
        "--token-key: expected ALGORITHM=FILE or ALGORITHM/ID=FILE, with HS256, RS256, ES256 or "
        "EdDSA, got '" +
        text + "'"};
  }
  rule::TokenKeySource source{.id = "", .algorithm = *algorithm, .key = ""};
  if (slash < equals) source.id = text.substr(slash + 1, equals - slash - 1);
  Result<std::string> key = ReadFile("--token-key", text.substr(equals + 1));
  if (!key) return key.error();
  source.key = std::move(*key);
  // Of a secret in a file, the end of the line is the editor's.
  if (*algorithm == TokenAlgorithm::kHs256 && source.key.ends_with('\n')) source.key.pop_back();
  return source;
}

Result<rule::TokenVerifier> ReadTokens(const IdentityOptions& options) {
  rule::TokenOptions tokens;
  for (const std::string& text : options.token_keys) {
    Result<rule::TokenKeySource> key = ReadTokenKey(text);
    if (!key) return key.error();
    tokens.keys.push_back(std::move(*key));
  }
  const Result<Nanos> leeway = ParseDuration(options.token_leeway);
  if (!leeway) {
    return Error{"--token-leeway: expected a time such as 60s, got '" + options.token_leeway + "'"};
  }
  tokens.leeway = std::chrono::ceil<std::chrono::seconds>(*leeway);
  tokens.claim = options.token_claim;
  tokens.issuer = options.token_issuer;
  tokens.audience = options.token_audience;
  Result<rule::TokenVerifier> verifier = rule::TokenVerifier::Make(tokens);
  if (!verifier) return Error{"--token-key: " + verifier.error().message};
  return verifier;
}

}  // namespace

void AddIdentityOptions(CLI::App& command, IdentityOptions& options) {
  const std::string group = "Clients";
  command
      .add_option("--gateway", options.gateways,
                  "Networks whose X-Forwarded-... headers are believed")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--trusted-proxy", options.trusted_proxies,
                  "Networks of proxies in front of the gateways")
      ->group(group);
  command
      .add_option("--trusted-hops", options.trusted_hops,
                  "So many proxies stand in front, whatever their addresses: only for a port that "
                  "nobody else can reach")
      ->check(CLI::Range(0, 32))
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--forwarded", options.forwarded,
                  "The header in which they say where a request came from: x-forwarded-for, "
                  "forwarded, none")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--api-keys", options.api_keys,
                  "A file of users by API key: the SHA-256 of a key and a user per line")
      ->group(group);
  command.add_option("--api-key-header", options.api_key_header, "Where clients send their key")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--token-key", options.token_keys,
                  "Keys that tokens are verified with: ALGORITHM[/ID]=FILE, e.g. RS256=issuer.pem")
      ->group(group);
  command.add_option("--token-claim", options.token_claim, "The claim that names the user")
      ->capture_default_str()
      ->group(group);
  command.add_option("--token-issuer", options.token_issuer, "Who must have issued a token")
      ->group(group);
  command.add_option("--token-audience", options.token_audience, "For whom a token must be")
      ->group(group);
  command
      .add_option("--token-leeway", options.token_leeway,
                  "How far the clocks of issuers may be from ours")
      ->capture_default_str()
      ->group(group);
}

Result<rule::ClientOptions> Read(const IdentityOptions& options) {
  rule::ClientOptions clients;
  for (const auto& [option, texts] : {std::pair{"--gateway", &options.gateways},
                                      std::pair{"--trusted-proxy", &options.trusted_proxies}}) {
    const Result<std::vector<rule::Network>> networks = ReadNetworks(option, *texts);
    if (!networks) return networks.error();
    clients.trusted.networks.insert(clients.trusted.networks.end(), networks->begin(),
                                    networks->end());
  }
  clients.trusted.count = options.trusted_hops;
  const auto* header = std::find_if(kHeaders.begin(), kHeaders.end(),
                                    [&](const auto& h) { return h.first == options.forwarded; });
  if (header == kHeaders.end()) {
    return Error{"--forwarded: there is x-forwarded-for, forwarded and none, got '" +
                 options.forwarded + "'"};
  }
  clients.trusted.header = header->second;
  if (!options.api_keys.empty()) {
    Result<rule::ApiKeys> keys = ReadApiKeys(options.api_keys);
    if (!keys) return keys.error();
    clients.api_keys = std::move(*keys);
  }
  clients.api_key_header = options.api_key_header;
  if (!options.token_keys.empty()) {
    Result<rule::TokenVerifier> tokens = ReadTokens(options);
    if (!tokens) return tokens.error();
    clients.tokens = std::move(*tokens);
  }
  return clients;
}

}  // namespace weir
