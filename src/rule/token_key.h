// Keys that signatures of tokens are verified with: HS256, RS256, ES256 and EdDSA (RFC 7518, 8037).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "weir/result.h"

namespace weir::rule {

enum class TokenAlgorithm : std::uint8_t {
  kHs256,  // HMAC with SHA-256: one secret to sign and to verify
  kRs256,  // RSA, PKCS #1 v1.5, with SHA-256
  kEs256,  // ECDSA on P-256 with SHA-256
  kEdDsa,  // Ed25519
};

// As a token writes it: "HS256".
std::string_view NameOf(TokenAlgorithm algorithm);

// As an administrator gives it.
struct TokenKeySource {
  std::string id;  // `kid` of the tokens it is for; empty: for those that name no other key
  TokenAlgorithm algorithm = TokenAlgorithm::kRs256;
  std::string key;  // HS256: the secret's bytes, at least 32. Others: a public key in PEM
};

// Ready to verify with. Thread safety: const calls may come from any number of threads.
class TokenKey {
 public:
  static constexpr std::size_t kShortestSecret = 32;  // bytes; RFC 7518 section 3.2
  static constexpr int kShortestRsa = 2048;           // bits; RFC 7518 section 3.3
  static constexpr int kLongestRsa = 8192;            // bits; beyond, one token takes milliseconds

  // The error shows nothing of the key.
  static Result<TokenKey> Load(const TokenKeySource& source);
  TokenKey(TokenKey&&) noexcept;
  TokenKey& operator=(TokenKey&&) noexcept;
  ~TokenKey();

  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] TokenAlgorithm algorithm() const { return algorithm_; }
  // Is this the key's signature of `signed_text`? For HS256, takes the same time for any answer.
  [[nodiscard]] bool Verifies(std::string_view signed_text, std::string_view signature) const;

 private:
  struct Material;

  TokenKey(std::string id, TokenAlgorithm algorithm, std::unique_ptr<const Material> material);

  std::string id_;
  TokenAlgorithm algorithm_;
  std::unique_ptr<const Material> material_;
};

}  // namespace weir::rule
