// Users from tokens: signed JSON Web Tokens in their compact form (RFC 7515, RFC 7519).
//
// A token is HEADER.CLAIMS.SIGNATURE, each in base64url. The header says which algorithm it wants
// to be verified with, and that is what attackers change: to "none", or to HS256 with a public key
// as the secret. So each key has one algorithm, given by the administrator, and a token that asks
// for another is refused.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "rule/token_key.h"
#include "weir/result.h"
#include "weir/units.h"

namespace weir::rule {

struct TokenOptions {
  std::vector<TokenKeySource> keys;
  std::string claim = "sub";  // that names the user: a text, or a whole number
  std::string issuer;         // `iss` must be this; empty: any
  std::string audience;       // `aud` must be or hold this; empty: any
  // How far the clocks of issuer and verifier may be apart, at most a day.
  std::chrono::seconds leeway{60};
};

// A token whose signature, issuer and audience are right. What is left to ask is the time.
struct Token {
  std::string user;
  Instant from = Instant::min();   // of `nbf`, the leeway included
  Instant until = Instant::max();  // of `exp`, the leeway included; no longer valid then
};

// Thread safety: const calls may come from any number of threads.
class TokenVerifier {
 public:
  static constexpr std::size_t kLongestToken = 8192;  // bytes
  static constexpr std::size_t kMostKeys = 32;        // one token is tried with at most so many

  // Fails on keys that cannot be read or are too weak, and where there is none.
  static Result<TokenVerifier> Make(const TokenOptions& options);

  // All but the time. Errors say what is wrong and show nothing of the token.
  [[nodiscard]] Result<Token> Read(std::string_view token) const;
  // The user, if the token is valid now.
  [[nodiscard]] Result<std::string> Verify(std::string_view token, Instant now) const;

 private:
  TokenVerifier(const TokenOptions& options, std::vector<TokenKey> keys);

  // Is `signature` by a key that fits the token's header?
  [[nodiscard]] bool IsSigned(std::string_view algorithm, const std::string* key_id,
                              std::string_view signed_text, std::string_view signature) const;

  std::vector<TokenKey> keys_;
  std::string claim_;
  std::string issuer_;
  std::string audience_;
  std::chrono::seconds leeway_;
};

}  // namespace weir::rule
