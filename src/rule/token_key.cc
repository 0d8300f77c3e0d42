#include "rule/token_key.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>

#include <array>
#include <utility>

#include "base/check.h"
#include "base/freed_by.h"
#include "rule/utf8.h"

namespace weir::rule {
namespace {

using PublicKey = std::unique_ptr<EVP_PKEY, FreedBy<EVP_PKEY_free>>;
using Bio = std::unique_ptr<BIO, FreedBy<BIO_free_all>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, FreedBy<EVP_MD_CTX_free>>;
using Number = std::unique_ptr<BIGNUM, FreedBy<BN_free>>;
using EcdsaSignature = std::unique_ptr<ECDSA_SIG, FreedBy<ECDSA_SIG_free>>;

// OpenSSL notes its errors in a queue of the thread. Ours are expected; whoever else uses OpenSSL
// in this thread must not find them there.
class ErrorsLeftBehind {
 public:
  ErrorsLeftBehind() { ERR_set_mark(); }
  ~ErrorsLeftBehind() { ERR_pop_to_mark(); }
  ErrorsLeftBehind(const ErrorsLeftBehind&) = delete;
  ErrorsLeftBehind& operator=(const ErrorsLeftBehind&) = delete;
};

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// Without this OpenSSL would ask at the terminal.
int NoPassword(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*user*/) { return -1; }

PublicKey ReadPem(std::string_view pem) {
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  WEIR_CHECK(bio != nullptr);
  return PublicKey(PEM_read_bio_PUBKEY(bio.get(), nullptr, NoPassword, nullptr));
}

bool IsP256(const EVP_PKEY* key) {
  std::array<char, 64> group{};
  std::size_t size = 0;
  return EVP_PKEY_is_a(key, "EC") == 1 &&
         EVP_PKEY_get_group_name(key, group.data(), group.size(), &size) == 1 &&
         std::string_view(group.data(), size) == "prime256v1";
}

// What is wrong with a key for `algorithm`; empty if nothing is.
std::string WhatIsWrong(TokenAlgorithm algorithm, const EVP_PKEY* key) {
  switch (algorithm) {
    case TokenAlgorithm::kRs256: {
      if (EVP_PKEY_is_a(key, "RSA") != 1) return "is not an RSA key";
      const int bits = EVP_PKEY_get_bits(key);
      if (bits >= TokenKey::kShortestRsa && bits <= TokenKey::kLongestRsa) return "";
      return "has " + std::to_string(bits) + " bits; use one of " +
             std::to_string(TokenKey::kShortestRsa) + " to " +
             std::to_string(TokenKey::kLongestRsa);
    }
    case TokenAlgorithm::kEs256:
      return IsP256(key) ? "" : "is not a key on the curve P-256";
    case TokenAlgorithm::kEdDsa:
      return EVP_PKEY_is_a(key, "ED25519") == 1 ? "" : "is not an Ed25519 key";
    case TokenAlgorithm::kHs256:
      break;
  }
  return "is not used with a public key";
}

bool VerifiesHmac(const std::string& secret, std::string_view text, std::string_view signature) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> mac{};
  unsigned size = 0;
  const unsigned char* made = HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
                                   Bytes(text), text.size(), mac.data(), &size);
  return made != nullptr && signature.size() == size &&
         CRYPTO_memcmp(mac.data(), signature.data(), size) == 0;
}

bool VerifiesWith(EVP_PKEY* key, const EVP_MD* digest, std::string_view text,
                  std::string_view signature) {
  const DigestContext context(EVP_MD_CTX_new());
  WEIR_CHECK(context != nullptr);
  return EVP_DigestVerifyInit(context.get(), nullptr, digest, nullptr, key) == 1 &&
         EVP_DigestVerify(context.get(), Bytes(signature), signature.size(), Bytes(text),
                          text.size()) == 1;
}

// A token holds the two numbers of 32 bytes, one behind the other; OpenSSL wants them in DER.
std::string ToDer(std::string_view signature) {
  constexpr int kNumberBytes = 32;
  if (signature.size() != std::size_t{2} * kNumberBytes) return "";
  Number r(BN_bin2bn(Bytes(signature), kNumberBytes, nullptr));
  Number s(BN_bin2bn(Bytes(signature.substr(kNumberBytes)), kNumberBytes, nullptr));
  const EcdsaSignature numbers(ECDSA_SIG_new());
  WEIR_CHECK(r != nullptr && s != nullptr && numbers != nullptr);
  WEIR_CHECK(ECDSA_SIG_set0(numbers.get(), r.release(), s.release()) == 1);
  std::array<unsigned char, 80> der{};  // 72 at most
  unsigned char* end = der.data();
  WEIR_CHECK(i2d_ECDSA_SIG(numbers.get(), nullptr) <= static_cast<int>(der.size()));
  const int size = i2d_ECDSA_SIG(numbers.get(), &end);
  WEIR_CHECK(size > 0);
  return {reinterpret_cast<const char*>(der.data()), static_cast<std::size_t>(size)};
}

}  // namespace

struct TokenKey::Material {
  std::string secret;  // HS256
  PublicKey public_key;

  Material() = default;
  ~Material() { OPENSSL_cleanse(secret.data(), secret.size()); }
  Material(const Material&) = delete;
  Material& operator=(const Material&) = delete;
};

std::string_view NameOf(TokenAlgorithm algorithm) {
  static constexpr std::array<std::string_view, 4> kNames = {"HS256", "RS256", "ES256", "EdDSA"};
  return kNames[static_cast<std::size_t>(algorithm)];
}

TokenKey::TokenKey(std::string id, TokenAlgorithm algorithm,
                   std::unique_ptr<const Material> material)
    : id_(std::move(id)), algorithm_(algorithm), material_(std::move(material)) {}
TokenKey::TokenKey(TokenKey&&) noexcept = default;
TokenKey& TokenKey::operator=(TokenKey&&) noexcept = default;
TokenKey::~TokenKey() = default;

Result<TokenKey> TokenKey::Load(const TokenKeySource& source) {
  constexpr std::size_t kLongestSource = std::size_t{64} << 10;
  const std::string name =
      "token key '" + Shown(source.id) + "' for " + std::string(NameOf(source.algorithm));
  if (source.key.size() > kLongestSource) return Error{name + " is longer than 64 KiB"};
  auto material = std::make_unique<Material>();
  if (source.algorithm == TokenAlgorithm::kHs256) {
    if (source.key.size() < kShortestSecret) {
      return Error{name + " has " + std::to_string(source.key.size()) +
                   " bytes; use a random secret of at least " + std::to_string(kShortestSecret)};
    }
    material->secret = source.key;
  } else {
    const ErrorsLeftBehind errors;
    material->public_key = ReadPem(source.key);
    if (material->public_key == nullptr) {
      return Error{name +
                   " cannot be read: give the public key in PEM, which begins with "
                   "-----BEGIN PUBLIC KEY-----"};
    }
    const std::string wrong = WhatIsWrong(source.algorithm, material->public_key.get());
    if (!wrong.empty()) return Error{name + " " + wrong};
  }
  return TokenKey(source.id, source.algorithm, std::move(material));
}

bool TokenKey::Verifies(std::string_view signed_text, std::string_view signature) const {
  const ErrorsLeftBehind errors;
  EVP_PKEY* key = material_->public_key.get();
  switch (algorithm_) {
    case TokenAlgorithm::kHs256:
      return VerifiesHmac(material_->secret, signed_text, signature);
    case TokenAlgorithm::kRs256:
      return VerifiesWith(key, EVP_sha256(), signed_text, signature);
    case TokenAlgorithm::kEs256:
      return VerifiesWith(key, EVP_sha256(), signed_text, ToDer(signature));
    case TokenAlgorithm::kEdDsa:
      return VerifiesWith(key, nullptr, signed_text, signature);
  }
  return false;
}

}  // namespace weir::rule
