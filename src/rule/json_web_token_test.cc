#include "rule/json_web_token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/token_signer.h"

namespace weir::rule {
namespace {

using std::chrono::seconds;
using testing::EncodeBase64Url;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::TokenSigner;

constexpr Instant kNow{seconds(1'800'000'000)};

const TokenSigner& Hmac() {
  static const TokenSigner kSigner(TokenAlgorithm::kHs256);
  return kSigner;
}

TokenVerifier Verifier(TokenOptions options) {
  return std::move(TokenVerifier::Make(options)).value();
}

TokenOptions WithHmac() {
  TokenOptions options;
  options.keys = {Hmac().Source()};
  return options;
}

// The user, or the error in brackets.
std::string Verify(const std::string& token, const TokenOptions& options = WithHmac(),
                   Instant now = kNow) {
  const Result<std::string> user = Verifier(options).Verify(token, now);
  return user ? *user : "(" + user.error().message + ")";
}

std::string VerifyClaims(const std::string& claims, const TokenOptions& options = WithHmac(),
                         Instant now = kNow) {
  return Verify(Hmac().Sign(claims), options, now);
}

TEST(JsonWebTokenTest, NamesTheUserWithEveryAlgorithm) {
  for (const auto algorithm : {TokenAlgorithm::kHs256, TokenAlgorithm::kRs256,
                               TokenAlgorithm::kEs256, TokenAlgorithm::kEdDsa}) {
    const TokenSigner signer(algorithm);
    TokenOptions options;
    options.keys = {signer.Source()};
    EXPECT_EQ(Verify(signer.Sign(R"({"sub":"alice"})"), options), "alice");
    const TokenSigner other = algorithm == TokenAlgorithm::kHs256
                                  ? TokenSigner("some other secret of thirty-two bytes")
                                  : TokenSigner(algorithm);
    EXPECT_THAT(Verify(other.Sign(R"({"sub":"alice"})"), options), HasSubstr("signature"));
  }
}

TEST(JsonWebTokenTest, ATokenThatAsksForNoSignatureIsRefused) {
  for (const char* none : {"none", "None", "NONE", ""}) {
    const std::string header = std::string(R"({"alg":")") + none + "\"}";
    const std::string unsigned_token =
        EncodeBase64Url(header) + "." + EncodeBase64Url(R"({"sub":"alice"})") + ".";
    EXPECT_THAT(Verify(unsigned_token), HasSubstr("signature")) << none;
    EXPECT_THAT(Verify(Hmac().Sign(header, R"({"sub":"alice"})")), HasSubstr("signature"));
  }
}

TEST(JsonWebTokenTest, APublicKeyIsNotTakenForASecret) {
  for (const auto algorithm :
       {TokenAlgorithm::kRs256, TokenAlgorithm::kEs256, TokenAlgorithm::kEdDsa}) {
    const TokenSigner issuer(algorithm);
    TokenOptions options;
    options.keys = {issuer.Source()};
    // Everybody knows the public key, and so could sign with it as a secret.
    const TokenSigner attacker(issuer.Source().key);
    EXPECT_THAT(Verify(attacker.Sign(R"({"sub":"alice"})"), options), HasSubstr("signature"));
    const std::string claimed = R"({"alg":")" + std::string(NameOf(algorithm)) + "\"}";
    EXPECT_THAT(Verify(attacker.Sign(claimed, R"({"sub":"alice"})"), options),
                HasSubstr("signature"));
  }
}

TEST(JsonWebTokenTest, AGoodSignatureUnderAnotherAlgorithmsNameIsRefused) {
  for (const char* header : {R"({"alg":"RS256"})", R"({"alg":"hs256"})", R"({"alg":"HS512"})"}) {
    EXPECT_THAT(Verify(Hmac().Sign(header, R"({"sub":"alice"})")), HasSubstr("signature"));
  }
  EXPECT_THAT(Verify(Hmac().Sign("{}", R"({"sub":"alice"})")), HasSubstr("alg"));
  EXPECT_THAT(Verify(Hmac().Sign(R"({"alg":1})", R"({"sub":"alice"})")), HasSubstr("alg"));
  EXPECT_THAT(Verify(Hmac().Sign(R"({"alg":"RS256","alg":"HS256"})", R"({"sub":"alice"})")),
              HasSubstr("twice"));
}

TEST(JsonWebTokenTest, TheKeyIdChoosesAmongKeys) {
  const TokenSigner one("the first secret, thirty-two bytes long");
  const TokenSigner two("the second secret, thirty-two bytes long");
  const TokenSigner any("the third secret, thirty-two bytes long");
  TokenOptions options;
  options.keys = {one.Source("one"), two.Source("two"), any.Source()};
  const auto verify = [&](const TokenSigner& signer, const std::string& kid) {
    return Verify(signer.Sign(R"({"alg":"HS256")" + kid + "}", R"({"sub":"alice"})"), options);
  };
  EXPECT_EQ(verify(one, R"(,"kid":"one")"), "alice");
  EXPECT_EQ(verify(two, R"(,"kid":"two")"), "alice");
  EXPECT_THAT(verify(one, R"(,"kid":"two")"), HasSubstr("signature"));
  EXPECT_THAT(verify(any, R"(,"kid":"two")"), HasSubstr("signature"));
  // A name that no key has: keys without a name may be meant, others not.
  EXPECT_EQ(verify(any, R"(,"kid":"three")"), "alice");
  EXPECT_THAT(verify(one, R"(,"kid":"three")"), HasSubstr("signature"));
  // No name: any key.
  EXPECT_EQ(verify(two, ""), "alice");
  EXPECT_THAT(verify(two, R"(,"kid":7)"), HasSubstr("kid"));
}

TEST(JsonWebTokenTest, ExpiresAfterItsTimeAndTheLeeway) {
  const std::string claims = R"({"sub":"alice","exp":1800000000})";
  TokenOptions options = WithHmac();
  EXPECT_EQ(VerifyClaims(claims, options, kNow + seconds(60) - Nanos(1)), "alice");
  EXPECT_EQ(VerifyClaims(claims, options, kNow + seconds(60)), "(the token has expired)");
  options.leeway = seconds(0);
  EXPECT_EQ(VerifyClaims(claims, options, kNow - Nanos(1)), "alice");
  EXPECT_EQ(VerifyClaims(claims, options, kNow), "(the token has expired)");
}

TEST(JsonWebTokenTest, IsNotValidBeforeItsTimeLessTheLeeway) {
  const std::string claims = R"({"sub":"alice","nbf":1800000000})";
  TokenOptions options = WithHmac();
  EXPECT_EQ(VerifyClaims(claims, options, kNow - seconds(60)), "alice");
  EXPECT_EQ(VerifyClaims(claims, options, kNow - seconds(60) - Nanos(1)),
            "(the token is not valid yet)");
  options.leeway = seconds(0);
  EXPECT_EQ(VerifyClaims(claims, options, kNow), "alice");
  EXPECT_EQ(VerifyClaims(claims, options, kNow - Nanos(1)), "(the token is not valid yet)");
}

TEST(JsonWebTokenTest, TimesMayHaveFractionsAndBeAbsurd) {
  TokenOptions options = WithHmac();
  options.leeway = seconds(0);
  const auto verify = [&](const std::string& time) {
    return VerifyClaims(R"({"sub":"alice",)" + time + "}", options);
  };
  EXPECT_EQ(verify(R"("exp":1800000001.5)"), "alice");
  EXPECT_THAT(verify(R"("exp":1800000000.5)"), HasSubstr("expired"));
  EXPECT_EQ(verify(R"("nbf":1799999999.5)"), "alice");
  EXPECT_THAT(verify(R"("nbf":1800000000.5)"), HasSubstr("not valid yet"));
  EXPECT_EQ(verify(R"("exp":1e300)"), "alice");
  EXPECT_EQ(verify(R"("exp":9223372036854775807)"), "alice");
  EXPECT_THAT(verify(R"("exp":-9223372036854775808)"), HasSubstr("expired"));
  EXPECT_THAT(verify(R"("exp":-1e300)"), HasSubstr("expired"));
  EXPECT_THAT(verify(R"("nbf":1e300)"), HasSubstr("not valid yet"));
  EXPECT_EQ(verify(R"("nbf":-1)"), "alice");
  EXPECT_THAT(verify(R"("exp":"1800000001")"), HasSubstr("exp is not a number"));
  EXPECT_THAT(verify(R"("exp":null)"), HasSubstr("exp is not a number"));
  EXPECT_THAT(verify(R"("nbf":[1])"), HasSubstr("nbf is not a number"));
}

TEST(JsonWebTokenTest, IssuerAndAudienceAreCheckedWhereTheyAreConfigured) {
  TokenOptions options = WithHmac();
  options.issuer = "https://issuer.example";
  EXPECT_EQ(VerifyClaims(R"({"sub":"alice","iss":"https://issuer.example"})", options), "alice");
  EXPECT_THAT(VerifyClaims(R"({"sub":"alice","iss":"https://other.example"})", options),
              HasSubstr("issuer"));
  EXPECT_THAT(VerifyClaims(R"({"sub":"alice"})", options), HasSubstr("issuer"));

  options = WithHmac();
  options.audience = "shop";
  EXPECT_EQ(VerifyClaims(R"({"sub":"alice","aud":"shop"})", options), "alice");
  EXPECT_EQ(VerifyClaims(R"({"sub":"alice","aud":["bank","shop"]})", options), "alice");
  for (const char* claims :
       {R"({"sub":"alice"})", R"({"sub":"alice","aud":"shops"})", R"({"sub":"alice","aud":[]})",
        R"({"sub":"alice","aud":["bank"]})", R"({"sub":"alice","aud":["shop",1]})",
        R"({"sub":"alice","aud":[["shop"]]})", R"({"sub":"alice","aud":{"shop":"shop"}})"}) {
    EXPECT_THAT(VerifyClaims(claims, options), HasSubstr("audience")) << claims;
  }
  EXPECT_EQ(VerifyClaims(R"({"sub":"alice","iss":"any","aud":"any"})"), "alice");
}

TEST(JsonWebTokenTest, TheClaimThatNamesTheUserCanBeChosen) {
  TokenOptions options = WithHmac();
  options.claim = "user_id";
  EXPECT_EQ(VerifyClaims(R"({"sub":"alice","user_id":42})", options), "42");
  EXPECT_EQ(VerifyClaims(R"({"sub":"alice","user_id":"bob"})", options), "bob");
  EXPECT_THAT(VerifyClaims(R"({"sub":"alice"})", options), HasSubstr("no claim 'user_id'"));
}

TEST(JsonWebTokenTest, AUserIsAShortTextWithoutControlCharacters) {
  const std::string longest(256, 'a');
  EXPECT_EQ(VerifyClaims(R"({"sub":")" + longest + "\"}"), longest);
  EXPECT_EQ(VerifyClaims(R"({"sub":"zo\u00eb"})"), "zo\u00eb");
  for (const std::string& sub :
       std::vector<std::string>{"\"" + longest + "a\"", R"("")", R"("a\u0000b")", R"("a\nb")",
                                R"("\u007f")", R"("\u0085")", R"("\udc00")", "1.5", "true", "null",
                                R"(["alice"])", R"({"a":"alice"})"}) {
    EXPECT_THAT(VerifyClaims("{\"sub\":" + sub + "}"), HasSubstr("no name of a user")) << sub;
  }
}

TEST(JsonWebTokenTest, AClaimGivenTwiceIsRefused) {
  EXPECT_THAT(VerifyClaims(R"({"sub":"alice","sub":"bob"})"), HasSubstr("twice"));
  EXPECT_THAT(VerifyClaims(R"({"sub":"alice","exp":1,"exp":1900000000})"), HasSubstr("twice"));
}

TEST(JsonWebTokenTest, ExtensionsThatMustBeUnderstoodAreNot) {
  EXPECT_THAT(
      Verify(Hmac().Sign(R"({"alg":"HS256","crit":["b64"],"b64":false})", R"({"sub":"alice"})")),
      HasSubstr("crit"));
}

TEST(JsonWebTokenTest, IsWrittenInOneWayOnly) {
  const std::string token = Hmac().Sign(R"({"sub":"alice"})");
  ASSERT_EQ(Verify(token), "alice");
  EXPECT_NE(Verify(token + "="), "alice");
  EXPECT_NE(Verify(token + "."), "alice");
  EXPECT_NE(Verify("." + token), "alice");
  EXPECT_NE(Verify(token + " "), "alice");
  EXPECT_NE(Verify(token.substr(0, token.rfind('.'))), "alice");
  // 32 bytes are 43 digits: two bits of the last one mean nothing.
  std::string other = token;
  other.back() = static_cast<char>(other.back() + 1);
  EXPECT_NE(Verify(other), "alice");
}

TEST(JsonWebTokenTest, LengthAndDepthAreBounded) {
  const std::string payload = R"({"sub":"alice","filler":")";
  std::string fits;
  std::size_t filler = 0;
  for (; fits.size() <= TokenVerifier::kLongestToken; ++filler) {
    const std::string token = Hmac().Sign(payload + std::string(filler + 5'900, 'x') + "\"}");
    if (token.size() > TokenVerifier::kLongestToken) break;
    fits = token;
  }
  EXPECT_EQ(Verify(fits), "alice");
  EXPECT_THAT(VerifyClaims(payload + std::string(filler + 5'900, 'x') + "\"}"),
              HasSubstr("at most 8192"));
  EXPECT_THAT(VerifyClaims("{\"sub\":" + std::string(2'000, '[') + std::string(2'000, ']') + "}"),
              HasSubstr("deep"));
}

TEST(JsonWebTokenTest, ErrorsShowNothingOfTheTokenOrTheSecret) {
  const std::string claims = R"({"sub":"hunter2","exp":1,"iss":"hunter2","aud":"hunter2"})";
  TokenOptions options = WithHmac();
  options.issuer = "us";
  for (const std::string& token :
       {Hmac().Sign(claims), Hmac().Sign(R"({"alg":"hunter2"})", claims), std::string("hunter2"),
        std::string("hunter2.hunter2.hunter2"), Hmac().Sign("hunter2"), Hmac().Sign("{\"hunter2"),
        TokenSigner("hunter2 hunter2 hunter2 hunter2 hunter2").Sign(claims)}) {
    for (const TokenOptions& chosen : {options, WithHmac()}) {
      const std::string error = Verify(token, chosen);
      EXPECT_EQ(error.front(), '(');
      EXPECT_THAT(error, Not(HasSubstr("hunter2")));
      EXPECT_THAT(error, Not(HasSubstr(Hmac().Source().key)));
    }
  }
}

TEST(JsonWebTokenTest, OptionsThatMakeNoSenseAreRefused) {
  TokenOptions options;
  EXPECT_FALSE(TokenVerifier::Make(options));
  options = WithHmac();
  options.keys.resize(TokenVerifier::kMostKeys, options.keys.front());
  EXPECT_TRUE(TokenVerifier::Make(options));
  options.keys.push_back(options.keys.front());
  EXPECT_FALSE(TokenVerifier::Make(options));
  options = WithHmac();
  options.claim = "";
  EXPECT_FALSE(TokenVerifier::Make(options));
  options = WithHmac();
  options.leeway = seconds(-1);
  EXPECT_FALSE(TokenVerifier::Make(options));
  options.leeway = std::chrono::hours(24) + seconds(1);
  EXPECT_FALSE(TokenVerifier::Make(options));
}

TEST(JsonWebTokenConcurrentTest, ThreadsShareOneVerifier) {
  const TokenSigner rsa(TokenAlgorithm::kRs256);
  const TokenSigner ec(TokenAlgorithm::kEs256);
  const TokenSigner ed(TokenAlgorithm::kEdDsa);
  TokenOptions options;
  options.keys = {Hmac().Source(), rsa.Source(), ec.Source(), ed.Source()};
  const TokenVerifier verifier = Verifier(options);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, user = "user" + std::to_string(i)] {
      const std::string claims = R"({"sub":")" + user + "\"}";
      for (const TokenSigner* signer : {&Hmac(), &rsa, &ec, &ed}) {
        const std::string token = signer->Sign(claims);
        for (int round = 0; round < 20; ++round) {
          EXPECT_EQ(verifier.Verify(token, kNow).value(), user);
          EXPECT_FALSE(verifier.Verify(token.substr(1), kNow));
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace weir::rule
