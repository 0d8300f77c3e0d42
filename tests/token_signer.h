// Signs tokens as an issuer would, with keys made for the test.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "rule/token_key.h"

namespace weir::testing {

std::string EncodeBase64Url(std::string_view bytes);

class TokenSigner {
 public:
  // A new key. RSA keys take a while to find: make them once.
  explicit TokenSigner(rule::TokenAlgorithm algorithm, int rsa_bits = 2048);
  // HS256 with this secret.
  explicit TokenSigner(std::string secret);
  ~TokenSigner();

  // What a verifier needs.
  [[nodiscard]] rule::TokenKeySource Source(std::string id = "") const;
  // HEADER.CLAIMS.SIGNATURE. `header` and `claims` are JSON, or what the test takes for it.
  [[nodiscard]] std::string Sign(std::string_view header, std::string_view claims) const;
  // With the header that the algorithm has.
  [[nodiscard]] std::string Sign(std::string_view claims) const;
  [[nodiscard]] std::string Signature(std::string_view text) const;

 private:
  struct Key;

  rule::TokenAlgorithm algorithm_;
  std::string secret_;
  std::unique_ptr<Key> key_;
};

}  // namespace weir::testing
