#include "net/tls_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/pem.h>

#include "tests/certificates.h"

namespace weir::net {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> NamesIn(const TestCertificateOptions& options) {
  const TestCertificate issued = TestAuthority().Issue(options);
  const openssl::Bio bio = openssl::ReadFrom(issued.certificate);
  const openssl::Certificate one(PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  return NamesOf(*one);
}

TEST(TlsNamesTest, AreThoseOfTheAlternatives) {
  EXPECT_THAT(NamesIn({.common_name = "not this one",
                       .alternatives = "DNS:a.example.com,URI:spiffe://mesh/gateway,"
                                       "email:ann@example.com,IP:127.0.0.1"}),
              ElementsAre("a.example.com", "spiffe://mesh/gateway", "ann@example.com"));
}

TEST(TlsNamesTest, TheCommonNameCountsOnlyWhereThereIsNothingElse) {
  EXPECT_THAT(NamesIn({.common_name = "old.example.com"}), ElementsAre("old.example.com"));
  // An address is no name, but the common name is not asked instead.
  EXPECT_THAT(NamesIn({.common_name = "old.example.com", .alternatives = "IP:127.0.0.1"}),
              IsEmpty());
}

TEST(TlsNamesTest, ANameThatCouldForgeALineOrAHeaderIsNobodys) {
  EXPECT_THAT(NamesIn({.common_name = "ann\r\nX-Admin: yes"}), IsEmpty());
  EXPECT_THAT(NamesIn({.common_name = "two words"}), IsEmpty());
}

TEST(TlsNamesTest, AStarIsOneLabel) {
  EXPECT_TRUE(CoversName("*.example.com", "a.example.com"));
  EXPECT_TRUE(CoversName("*.example.com", "A.Example.COM"));
  for (const char* name :
       {"example.com", "a.b.example.com", ".example.com", "aexample.com", "a.example.com.evil.org",
        "ann@a.example.com", "spiffe://a.example.com", ""}) {
    EXPECT_FALSE(CoversName("*.example.com", name)) << name;
  }
}

TEST(TlsNamesTest, AnythingElseIsTheSameOrIsNot) {
  EXPECT_TRUE(CoversName("gateway.example.com", "GATEWAY.example.com"));
  EXPECT_FALSE(CoversName("gateway.example.com", "gateway.example.com.evil.org"));
  EXPECT_FALSE(CoversName("gateway.example.com", "a.gateway.example.com"));
  EXPECT_TRUE(CoversName("spiffe://mesh/A", "spiffe://mesh/A"));
  EXPECT_FALSE(CoversName("spiffe://mesh/A", "spiffe://mesh/a"));  // case counts in a path
  EXPECT_FALSE(CoversName("a.example.com", "*.example.com"));      // the star of a client
}

TEST(TlsNamesTest, OneOfTheNamesMustBeAllowed) {
  const AllowedNames allowed = AllowedNames::Make({"a.example.com", "*.mesh"}).value();
  EXPECT_EQ(allowed.FirstOf({"x", "pod.mesh", "a.example.com"}), "pod.mesh");
  EXPECT_EQ(allowed.FirstOf({"x", "mesh"}), std::nullopt);
  EXPECT_EQ(allowed.FirstOf({}), std::nullopt);
}

TEST(TlsNamesTest, WithoutAnySaidEverybodyIsAllowed) {
  EXPECT_EQ(AllowedNames().FirstOf({"x", "y"}), "x");
  EXPECT_EQ(AllowedNames().FirstOf({}), "");
}

TEST(TlsNamesTest, StarsElsewhereAreRefused) {
  for (const char* pattern : {"", "*", "*.", "a.*", "*a.example.com", "*.*.example.com"}) {
    EXPECT_THAT(AllowedNames::Make({pattern}).error().message,
                HasSubstr("write gateway.example.com or *.example.com"))
        << pattern;
  }
}

}  // namespace
}  // namespace weir::net
