// Who a certificate says its owner is, and whom an operator lets in.
#pragma once

#include <openssl/x509.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/result.h"

namespace weir::net {

// The names of a certificate: DNS names, URIs and mail addresses of its SAN; only if it has no SAN
// at all, its common name, as old certificates have it.
std::vector<std::string> NamesOf(const X509& certificate);

// The names that clients may have. None at all: any name will do.
class AllowedNames {
 public:
  AllowedNames() = default;
  // "gateway.example.com", "spiffe://mesh/gateway", "*.example.com" for one label.
  static Result<AllowedNames> Make(std::vector<std::string> patterns);

  // The first of `names` that is allowed.
  [[nodiscard]] std::optional<std::string> FirstOf(const std::vector<std::string>& names) const;

 private:
  explicit AllowedNames(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {}

  std::vector<std::string> patterns_;
};

// Whether `pattern` covers `name`. A star is one label and never more: `*.example.com` covers
// a.example.com, but neither example.com nor a.b.example.com. In DNS names upper and lower case are
// the same; URIs and mail addresses are the same only byte by byte.
bool CoversName(std::string_view pattern, std::string_view name);

}  // namespace weir::net
