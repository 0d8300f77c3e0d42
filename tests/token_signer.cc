#include "tests/token_signer.h"

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>

#include <array>

#include "base/check.h"

namespace weir::testing {

using rule::TokenAlgorithm;

namespace {

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// DER, as OpenSSL makes it, to two numbers of 32 bytes.
std::string ToRaw(const std::string& der) {
  const unsigned char* from = Bytes(der);
  ECDSA_SIG* signature = d2i_ECDSA_SIG(nullptr, &from, static_cast<long>(der.size()));
  std::array<unsigned char, 64> raw{};
  BN_bn2binpad(ECDSA_SIG_get0_r(signature), raw.data(), 32);
  BN_bn2binpad(ECDSA_SIG_get0_s(signature), raw.data() + 32, 32);
  ECDSA_SIG_free(signature);
  return {raw.begin(), raw.end()};
}

}  // namespace

std::string EncodeBase64Url(std::string_view bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), Bytes(bytes),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  while (text.ends_with('=')) text.pop_back();
  for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
  return text;
}

struct TokenSigner::Key {
  EVP_PKEY* key = nullptr;

  explicit Key(EVP_PKEY* made) : key(made) { WEIR_CHECK(key != nullptr); }
  ~Key() { EVP_PKEY_free(key); }
  Key(const Key&) = delete;
  Key& operator=(const Key&) = delete;
};

TokenSigner::TokenSigner(TokenAlgorithm algorithm, int rsa_bits) : algorithm_(algorithm) {
  switch (algorithm) {
    case TokenAlgorithm::kHs256:
      secret_ = "a secret of more than thirty-two bytes";
      break;
    case TokenAlgorithm::kRs256:
      key_ = std::make_unique<Key>(EVP_RSA_gen(static_cast<std::size_t>(rsa_bits)));
      break;
    case TokenAlgorithm::kEs256:
      key_ = std::make_unique<Key>(EVP_EC_gen("P-256"));
      break;
    case TokenAlgorithm::kEdDsa:
      key_ = std::make_unique<Key>(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
      break;
  }
}

TokenSigner::TokenSigner(std::string secret)
    : algorithm_(TokenAlgorithm::kHs256), secret_(std::move(secret)) {}
TokenSigner::~TokenSigner() = default;

rule::TokenKeySource TokenSigner::Source(std::string id) const {
  if (key_ == nullptr) return {.id = std::move(id), .algorithm = algorithm_, .key = secret_};
  BIO* bio = BIO_new(BIO_s_mem());
  PEM_write_bio_PUBKEY(bio, key_->key);
  char* pem = nullptr;
  const long size = BIO_get_mem_data(bio, &pem);
  rule::TokenKeySource source{.id = std::move(id),
                              .algorithm = algorithm_,
                              .key = std::string(pem, static_cast<std::size_t>(size))};
  BIO_free(bio);
  return source;
}

std::string TokenSigner::Signature(std::string_view text) const {
  if (key_ == nullptr) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> mac{};
    unsigned size = 0;
    HMAC(EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()), Bytes(text), text.size(),
         mac.data(), &size);
    return {mac.begin(), mac.begin() + size};
  }
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  const EVP_MD* digest = algorithm_ == TokenAlgorithm::kEdDsa ? nullptr : EVP_sha256();
  WEIR_CHECK(EVP_DigestSignInit(context, nullptr, digest, nullptr, key_->key) == 1);
  std::size_t size = 0;
  WEIR_CHECK(EVP_DigestSign(context, nullptr, &size, Bytes(text), text.size()) == 1);
  std::string signature(size, '\0');
  WEIR_CHECK(EVP_DigestSign(context, reinterpret_cast<unsigned char*>(signature.data()), &size,
                            Bytes(text), text.size()) == 1);
  signature.resize(size);
  EVP_MD_CTX_free(context);
  return algorithm_ == TokenAlgorithm::kEs256 ? ToRaw(signature) : signature;
}

std::string TokenSigner::Sign(std::string_view header, std::string_view claims) const {
  const std::string text = EncodeBase64Url(header) + "." + EncodeBase64Url(claims);
  return text + "." + EncodeBase64Url(Signature(text));
}

std::string TokenSigner::Sign(std::string_view claims) const {
  return Sign(R"({"typ":"JWT","alg":")" + std::string(NameOf(algorithm_)) + "\"}", claims);
}

}  // namespace weir::testing
