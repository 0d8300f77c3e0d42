// Where in the requests of one connection the fields are that each of them is asked for.
//
// Found out once for all requests whose fields have the same names (wire::HttpRequest::names), and
// again when the rules are others. What is found is what GatewayFields, rule::WantedHeaders and a
// search by name find: it is only remembered.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "frontend/gateway_fields.h"
#include "rule/header_field.h"
#include "rule/rulebook.h"
#include "wire/http_request.h"

namespace weir {

class FieldPlaces {
 public:
  // A header field that rules ask for: the first of its name.
  struct Wanted {
    rule::Schema::Number number;
    std::uint8_t place;
  };

  // From now on, what follows is about `request`.
  void Use(const wire::HttpRequest& request) {
    if (request.names == 0 || request.names != names_) Look(request);
  }
  // What a gateway says.
  [[nodiscard]] const GatewayFields::Places& gateway() const { return gateway_; }
  // The only line of X-Forwarded-For; null if there is none, or several.
  [[nodiscard]] const rule::HeaderField* ForwardedFor(const wire::HttpRequest& request) const {
    return forwarded_for_ == GatewayFields::kNone ? nullptr : &request.fields[forwarded_for_];
  }
  [[nodiscard]] bool has_cookies() const { return has_cookies_; }
  // Those that the rules of `space` ask for. Good until the next call.
  std::span<const Wanted> ForRules(const wire::HttpRequest& request, const rule::Space& space) {
    if (request.names == 0 || request.names != wanted_names_ || space.serial() != wanted_space_) {
      LookFor(space, request);
    }
    return {wanted_.data(), wanted_count_};
  }

 private:
  void Look(const wire::HttpRequest& request);
  void LookFor(const rule::Space& space, const wire::HttpRequest& request);

  std::uint64_t names_ = 0;  // which those were that follow; 0: of one request alone
  GatewayFields::Places gateway_ = GatewayFields::kNowhere;
  std::uint8_t forwarded_for_ = GatewayFields::kNone;
  bool has_cookies_ = false;

  std::uint64_t wanted_names_ = 0;
  std::uint64_t wanted_space_ = 0;
  std::size_t wanted_count_ = 0;
  std::array<Wanted, rule::Schema::kMost> wanted_;  // NOLINT(*-member-init): so many are looked at
};

}  // namespace weir
