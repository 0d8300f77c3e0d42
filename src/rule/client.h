// Who sends a request: the attributes `ip` and `user`, from what the connection and its headers
// say, as far as it can be believed.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/published.h"
#include "rule/address.h"
#include "rule/api_keys.h"
#include "rule/client_address.h"
#include "rule/header_field.h"
#include "rule/json_web_token.h"
#include "weir/units.h"

namespace weir::rule {

// How a request's credential fared, for explanations.
enum class Credential : std::uint8_t {
  kAccepted,     // there is a user
  kNone,         // neither an API key nor a token, or none is asked for
  kNotVerified,  // a token that cannot be believed, or not yet
  kExpired,      // a token that was valid once
  kUnknownKey,   // an API key of nobody
};

// "the token has expired"
std::string_view Describe(Credential credential);

struct ClientOptions {
  TrustedHops trusted;
  // Names in any case.
  std::string api_key_header = "x-api-key";
  std::string token_header = "authorization";  // "Bearer TOKEN"
  ApiKeys api_keys;                            // empty: the header is not looked at
  std::optional<TokenVerifier> tokens;         // none: the header is not looked at
};

// What is known of a request before it is known whose it is. Views: what they look at must outlive
// the call.
struct ConnectionFacts {
  std::optional<Address> peer;     // whose connection it is; none on a Unix socket
  std::optional<Address> proxied;  // what the PROXY protocol said on it
  HeaderFields fields;
};

struct Identity {
  Address ip;
  std::optional<std::string> user;
  Credential credential = Credential::kNone;
};

// Thread safety: all calls may come from any number of threads. Copies go by the same options, also
// by those that come later.
class ClientIdentifier {
 public:
  explicit ClientIdentifier(ClientOptions options)
      : options_(std::make_shared<Published<ClientOptions>>(
            std::make_unique<const ClientOptions>(std::move(options)))) {}

  // An API key that is known decides; otherwise a token is asked, which costs more to verify. So a
  // request with both is its API key's user, and an API key of nobody (it may be meant for somebody
  // else) does not hide a good token. A credential given twice is refused: whoever is called next
  // may take the other one.
  [[nodiscard]] Identity Identify(const ConnectionFacts& facts, Instant now) const {
    return Identify(*options_->Read(), facts, now);
  }

  // From now on other keys, or other proxies, count. Requests under way are not held up.
  void Replace(ClientOptions options) {
    options_->Publish(std::make_unique<const ClientOptions>(std::move(options)));
  }

 private:
  friend class ClientsOfPeer;
  static Identity Identify(const ClientOptions& options, const ConnectionFacts& facts, Instant now);

  std::shared_ptr<Published<ClientOptions>> options_;
};

// The same for several requests of one connection on which the PROXY protocol says nothing, by the
// options of when it was made. To be kept for as long as it takes to answer what was read. Must not
// outlive the identifier.
class ClientsOfPeer {
 public:
  ClientsOfPeer(const ClientIdentifier& clients, const std::optional<Address>& peer)
      : options_(clients.options_->Read()),
        peer_(peer),
        is_one_step_away_(IsOneStepAway(peer, options_->trusted)) {}

  [[nodiscard]] Identity Identify(HeaderFields fields, Instant now) const {
    return ClientIdentifier::Identify(*options_, {peer_, std::nullopt, fields}, now);
  }
  // The short way to the address alone. True if it is the one in `forwarded_for`, written there as
  // Address::Write() does. REQUIRES: no other field of the request is called X-Forwarded-For
  bool IsAddressIn(const HeaderField& forwarded_for, Address& address) const {
    return is_one_step_away_ && Address::ParseV4(forwarded_for.value, address);
  }

 private:
  Published<ClientOptions>::Reading options_;
  std::optional<Address> peer_;
  bool is_one_step_away_;
};

}  // namespace weir::rule
