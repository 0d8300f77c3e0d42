// The attributes of a request that a gateway asks about, from the request it asks with.
//
// Gateways tell of the client's request in different ways: in X-Forwarded-Method, -Uri and -Host
// (Traefik, Caddy, APISIX, nginx as we configure it), in X-Original-Method, -URI or -URL (nginx by
// habit), or by asking with the client's own method and path behind a prefix (Envoy). What a peer
// says in headers is believed only if it is a trusted gateway.
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "frontend/field_places.h"
#include "frontend/gateway_fields.h"
#include "rule/attribute.h"
#include "rule/client.h"
#include "rule/rulebook.h"
#include "wire/http_request.h"
#include "wire/percent.h"

namespace weir {

// Who asks, as far as the connection shows.
struct HttpPeer {
  std::optional<rule::Address> address;  // none on a Unix socket
  bool is_gateway = false;               // believed when it speaks for others
};

// What is asked.
struct HttpQuestion {
  const wire::HttpRequest& request;
  std::string_view prefix;    // the part of the path that is ours
  const GatewayFields& said;  // as far as the peer is believed
  FieldPlaces& places;        // of this connection's requests, in use for this one
};

class HttpAttributes {
 public:
  // Puts into `values` those of the schema of `space` that the request has. Views of the request,
  // and, if owns() then, of this object until the next call.
  void Find(const HttpQuestion& question, const std::optional<rule::Address>& peer,
            const rule::Space& space, const rule::ClientIdentifier& clients, Instant now,
            rule::Values& values);
  [[nodiscard]] bool owns() const { return owns_; }
  // What was read is answered: from the next on, clients are known by the options of then.
  void Release() { clients_.reset(); }

 private:
  // Puts text somewhere it stays until the next call.
  std::string_view Keep(std::string text) {
    owns_ = true;
    return kept_.emplace_back(std::move(text));
  }
  // Sets `ip`, and `user` if rules ask for it.
  void Identify(const HttpQuestion& question, const rule::RequestSources& sources, Instant now,
                rule::Values& values);
  // Decoded, if it can be and has to be; otherwise as it is.
  std::string_view Decoded(std::string_view text, wire::Plus plus);
  // In lower case.
  std::string_view Lower(std::string_view text);

  std::optional<rule::ClientsOfPeer> clients_;
  std::array<char, rule::Address::kLongestText> ip_text_;
  std::deque<std::string> kept_;  // what is not in the request as it is told: seldom anything
  std::string scratch_;
  bool owns_ = false;
};

}  // namespace weir
