// Keys, and the signatures that the standards give as examples: RFC 7515 appendix A, RFC 8037
// appendix A.4.
#include "rule/token_key.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/err.h>

#include <string>

#include "rule/base64url.h"
#include "rule/json_web_token.h"
#include "tests/token_signer.h"

namespace weir::rule {
namespace {

using ::testing::HasSubstr;
using testing::TokenSigner;

constexpr const char* kClaims =
    "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVl"
    "fQ";

constexpr const char* kRsaPem =
    "-----BEGIN PUBLIC KEY-----\n"
    "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAofgWCuLjybRlzo0tZWJj\n"
    "NiuSfb4p4fAkd/wWJcyQoTbji9k0l8W26mPddxHmfHQp+Vaw+4qPCJrcS2mJPMEz\n"
    "P1Pt0Bm4d4QlL+yRT+SFd2lZS+pCgNMsD1W/YpRPEwOWvG6b32690r2jZ47soMZo\n"
    "9wGzjb/7OMg0LOL+bSf63kpaSHSXndS5z5rexMdbBYUsLA9e+KXBdQOS+UTo7WTB\n"
    "EMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6/I5IhlJH7aGhyxX\n"
    "FvUK+DWNmoudF8NAco9/h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXp\n"
    "oQIDAQAB\n"
    "-----END PUBLIC KEY-----\n";

constexpr const char* kEcPem =
    "-----BEGIN PUBLIC KEY-----\n"
    "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEf83OJ3D2xF1Bg8vub9tLe1gHMzV7\n"
    "6e8Tus9uPHvRVEXH8UTNG72bfocs3+257rn0s2ldbqkLJK2KRiMohYjlrQ==\n"
    "-----END PUBLIC KEY-----\n";

constexpr const char* kEdPem =
    "-----BEGIN PUBLIC KEY-----\n"
    "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n"
    "-----END PUBLIC KEY-----\n";

// The examples name their user in `iss` and end at second 1300819380.
void ExpectJoe(const TokenKeySource& key, const std::string& header, const std::string& signature) {
  const auto verifier = TokenVerifier::Make(
      {.keys = {key}, .claim = "iss", .issuer = "joe", .audience = "", .leeway = {}});
  ASSERT_TRUE(verifier) << verifier.error().message;
  const std::string token = header + "." + kClaims + "." + signature;
  const Instant end{std::chrono::seconds(1300819380)};
  const Result<std::string> user = verifier->Verify(token, end - Nanos(1));
  ASSERT_TRUE(user) << user.error().message;
  EXPECT_EQ(*user, "joe");
  EXPECT_FALSE(verifier->Verify(token, end));
}

TEST(TokenKeyTest, VerifiesTheStandardsExampleOfHs256) {
  const auto secret = DecodeBase64Url(
      "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow");
  ASSERT_TRUE(secret);
  ExpectJoe({.id = "", .algorithm = TokenAlgorithm::kHs256, .key = *secret},
            "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9",
            "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
}

TEST(TokenKeyTest, VerifiesTheStandardsExampleOfRs256) {
  ExpectJoe({.id = "", .algorithm = TokenAlgorithm::kRs256, .key = kRsaPem}, "eyJhbGciOiJSUzI1NiJ9",
            "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O"
            "8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARN"
            "PvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ"
            "1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw");
}

TEST(TokenKeyTest, VerifiesTheStandardsExampleOfEs256) {
  ExpectJoe({.id = "", .algorithm = TokenAlgorithm::kEs256, .key = kEcPem}, "eyJhbGciOiJFUzI1NiJ9",
            "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1"
            "Q");
}

TEST(TokenKeyTest, VerifiesTheStandardsExampleOfEdDsa) {
  const auto key = TokenKey::Load({.id = "", .algorithm = TokenAlgorithm::kEdDsa, .key = kEdPem});
  ASSERT_TRUE(key) << key.error().message;
  const auto signature = DecodeBase64Url(
      "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg");
  const std::string text = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc";
  EXPECT_TRUE(key->Verifies(text, *signature));
  EXPECT_FALSE(key->Verifies(text + "x", *signature));
}

TEST(TokenKeyTest, OneBitMoreOrLessIsAnotherSignature) {
  for (const auto algorithm : {TokenAlgorithm::kHs256, TokenAlgorithm::kRs256,
                               TokenAlgorithm::kEs256, TokenAlgorithm::kEdDsa}) {
    SCOPED_TRACE(NameOf(algorithm));
    const TokenSigner signer(algorithm);
    const auto key = TokenKey::Load(signer.Source());
    ASSERT_TRUE(key) << key.error().message;
    const std::string good = signer.Signature("text");
    EXPECT_TRUE(key->Verifies("text", good));
    EXPECT_FALSE(key->Verifies("texT", good));
    EXPECT_FALSE(key->Verifies("text", ""));
    EXPECT_FALSE(key->Verifies("text", good + '\0'));
    EXPECT_FALSE(key->Verifies("text", good.substr(0, good.size() - 1)));
    EXPECT_FALSE(key->Verifies("text", std::string(good.size(), '\0')));
    for (std::size_t bit = 0; bit < good.size() * 8; bit += 7) {
      std::string changed = good;
      changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
      ASSERT_FALSE(key->Verifies("text", changed)) << bit;
    }
    EXPECT_EQ(ERR_peek_error(), 0U);  // nothing is left for others to find
  }
}

TEST(TokenKeyTest, WeakKeysAreRefused) {
  const std::string secret(TokenKey::kShortestSecret, 's');
  EXPECT_TRUE(TokenKey::Load({.id = "", .algorithm = TokenAlgorithm::kHs256, .key = secret}));
  const auto weak =
      TokenKey::Load({.id = "k1", .algorithm = TokenAlgorithm::kHs256, .key = secret.substr(1)});
  ASSERT_FALSE(weak);
  EXPECT_EQ(weak.error().message,
            "token key 'k1' for HS256 has 31 bytes; use a random secret of at least 32");

  const auto small = TokenKey::Load(TokenSigner(TokenAlgorithm::kRs256, 1024).Source());
  ASSERT_FALSE(small);
  EXPECT_THAT(small.error().message, HasSubstr("1024 bits"));
}

TEST(TokenKeyTest, AKeyOfAnotherAlgorithmIsRefused) {
  const std::string rsa = kRsaPem;
  const std::string ec = kEcPem;
  const std::string ed = kEdPem;
  const auto loads = [](TokenAlgorithm algorithm, const std::string& pem) {
    return TokenKey::Load({.id = "", .algorithm = algorithm, .key = pem}).ok();
  };
  EXPECT_TRUE(loads(TokenAlgorithm::kRs256, rsa));
  EXPECT_TRUE(loads(TokenAlgorithm::kEs256, ec));
  EXPECT_TRUE(loads(TokenAlgorithm::kEdDsa, ed));
  EXPECT_FALSE(loads(TokenAlgorithm::kRs256, ec));
  EXPECT_FALSE(loads(TokenAlgorithm::kEs256, ed));
  EXPECT_FALSE(loads(TokenAlgorithm::kEdDsa, rsa));
}

TEST(TokenKeyTest, WhatIsNoKeyIsRefusedWithoutShowingIt) {
  for (const std::string text : {"", "hunter2", "-----BEGIN PUBLIC KEY-----\nhunter2\n"}) {
    const auto key = TokenKey::Load({.id = "", .algorithm = TokenAlgorithm::kRs256, .key = text});
    ASSERT_FALSE(key);
    EXPECT_THAT(key.error().message, HasSubstr("BEGIN PUBLIC KEY"));
    EXPECT_THAT(key.error().message, ::testing::Not(HasSubstr("hunter2")));
  }
  EXPECT_EQ(ERR_peek_error(), 0U);
}

}  // namespace
}  // namespace weir::rule
