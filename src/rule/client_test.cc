#include "rule/client.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/token_signer.h"

namespace weir::rule {
namespace {

using std::chrono::seconds;
using testing::TokenSigner;

constexpr Instant kNow{seconds(1'800'000'000)};

const TokenSigner& Signer() {
  static const TokenSigner kSigner(TokenAlgorithm::kHs256);
  return kSigner;
}

ApiKeys Keys() {
  const std::vector<ApiKeys::Source> sources = {{ApiKeys::Digest("key-of-bob"), "bob"}};
  return std::move(ApiKeys::Make(sources)).value();
}

TokenVerifier Tokens() {
  TokenOptions options;
  options.keys = {Signer().Source()};
  return std::move(TokenVerifier::Make(options)).value();
}

ClientOptions Everything() {
  ClientOptions options;
  options.trusted = {.networks = {*Network::Parse("10.0.0.0/8")},
                     .count = 0,
                     .header = ForwardedHeader::kXForwardedFor};
  options.api_keys = Keys();
  options.tokens = Tokens();
  return options;
}

Identity Identify(const std::vector<HeaderField>& fields, ClientOptions options = Everything()) {
  const ClientIdentifier identifier(std::move(options));
  return identifier.Identify(
      {.peer = *Address::Parse("10.0.0.1"), .proxied = std::nullopt, .fields = fields}, kNow);
}

// The user, or why there is none.
std::string Whose(const std::vector<HeaderField>& fields, ClientOptions options = Everything()) {
  const Identity identity = Identify(fields, std::move(options));
  EXPECT_EQ(identity.user.has_value(), identity.credential == Credential::kAccepted);
  return identity.user ? *identity.user : std::string(Describe(identity.credential));
}

std::string Bearer(const std::string& claims) { return "Bearer " + Signer().Sign(claims); }

TEST(ClientTest, IsKnownByAddressAndUser) {
  const std::string token = Bearer(R"({"sub":"alice"})");
  const Identity identity =
      Identify({{"X-Forwarded-For", "203.0.113.7"}, {"Authorization", token}});
  EXPECT_EQ(identity.ip.ToString(), "203.0.113.7");
  EXPECT_EQ(identity.user, "alice");
  EXPECT_EQ(identity.credential, Credential::kAccepted);
}

TEST(ClientTest, TheProxyProtocolsAddressIsPassedOn) {
  const ClientIdentifier identifier(Everything());
  const Identity identity = identifier.Identify(
      {.peer = *Address::Parse("10.0.0.1"), .proxied = Address::Parse("2001:db8::7"), .fields = {}},
      kNow);
  EXPECT_EQ(identity.ip.ToString(), "2001:db8::7");
}

TEST(ClientTest, WithoutACredentialThereIsNoUser) {
  EXPECT_EQ(Whose({}), "there is no credential");
  EXPECT_EQ(Whose({{"user", "alice"}, {"x-user", "alice"}}), "there is no credential");
  EXPECT_EQ(Whose({{"Authorization", "Basic YWxpY2U6aHVudGVyMg=="}}), "there is no credential");
  EXPECT_EQ(Whose({{"Authorization", "Bearer"}}), "there is no credential");
}

TEST(ClientTest, AnApiKeyNamesItsUser) {
  EXPECT_EQ(Whose({{"X-API-Key", "key-of-bob"}}), "bob");
  EXPECT_EQ(Whose({{"x-api-key", " key-of-bob\t"}}), "bob");
  EXPECT_EQ(Whose({{"X-API-Key", "key-of-eve"}}), "the API key is not known");
  EXPECT_EQ(Whose({{"X-API-Key", ""}}), "the API key is not known");
  EXPECT_EQ(Whose({{"X-API-Keys", "key-of-bob"}}), "there is no credential");
}

TEST(ClientTest, ATokenNamesItsUserWhileItIsValid) {
  const std::string good = Bearer(R"({"sub":"alice"})");
  EXPECT_EQ(Whose({{"authorization", good}}), "alice");
  EXPECT_EQ(Whose({{"AUTHORIZATION", "bEARER   " + good.substr(7)}}), "alice");
  EXPECT_EQ(Whose({{"authorization", good + "x"}}), "the token cannot be verified");
  EXPECT_EQ(Whose({{"authorization", "Bearer x"}}), "the token cannot be verified");
  EXPECT_EQ(Whose({{"authorization", Bearer(R"({"sub":"alice","exp":1799999940})")}}),
            "the token has expired");
  EXPECT_EQ(Whose({{"authorization", Bearer(R"({"sub":"alice","exp":1799999941})")}}), "alice");
  EXPECT_EQ(Whose({{"authorization", Bearer(R"({"sub":"alice","nbf":1800000060})")}}), "alice");
  EXPECT_EQ(Whose({{"authorization", Bearer(R"({"sub":"alice","nbf":1800000061})")}}),
            "the token cannot be verified");
}

TEST(ClientTest, AKnownApiKeyDecidesBeforeAToken) {
  const std::string good = Bearer(R"({"sub":"alice"})");
  EXPECT_EQ(Whose({{"authorization", good}, {"x-api-key", "key-of-bob"}}), "bob");
  EXPECT_EQ(Whose({{"authorization", "Bearer x"}, {"x-api-key", "key-of-bob"}}), "bob");
  EXPECT_EQ(Whose({{"authorization", good}, {"x-api-key", "key-of-eve"}}), "alice");
  EXPECT_EQ(Whose({{"authorization", "Bearer x"}, {"x-api-key", "key-of-eve"}}),
            "the token cannot be verified");
  EXPECT_EQ(Whose({{"authorization", "Basic x"}, {"x-api-key", "key-of-eve"}}),
            "the API key is not known");
}

TEST(ClientTest, ACredentialGivenTwiceIsRefused) {
  const std::string good = Bearer(R"({"sub":"alice"})");
  EXPECT_EQ(Whose({{"authorization", good}, {"Authorization", good}}),
            "the token cannot be verified");
  EXPECT_EQ(Whose({{"x-api-key", "key-of-bob"}, {"X-API-Key", "key-of-bob"}}),
            "the API key is not known");
}

TEST(ClientTest, WhatIsNotConfiguredIsNotLookedAt) {
  const std::string good = Bearer(R"({"sub":"alice"})");
  ClientOptions no_keys = Everything();
  no_keys.api_keys = ApiKeys();
  EXPECT_EQ(Whose({{"x-api-key", "key-of-bob"}}, std::move(no_keys)), "there is no credential");
  ClientOptions no_tokens = Everything();
  no_tokens.tokens.reset();
  EXPECT_EQ(Whose({{"authorization", good}}, std::move(no_tokens)), "there is no credential");
}

TEST(ClientTest, TheNamesOfTheHeadersCanBeChosen) {
  const std::string good = Bearer(R"({"sub":"alice"})");
  const auto whose = [](const std::vector<HeaderField>& fields) {
    ClientOptions options = Everything();
    options.api_key_header = "Api-Token";
    options.token_header = "X-Jwt";
    return Whose(fields, std::move(options));
  };
  EXPECT_EQ(whose({{"api-token", "key-of-bob"}}), "bob");
  EXPECT_EQ(whose({{"x-jwt", good}}), "alice");
  EXPECT_EQ(whose({{"x-api-key", "key-of-bob"}, {"authorization", good}}),
            "there is no credential");
}

TEST(ClientTest, TheShortWayToAnAddressLeadsWhereTheLongOneDoes) {
  const std::vector<std::string> values = {"203.0.113.7",
                                           "10.0.0.9",
                                           "10.0.0.9, 203.0.113.7",
                                           "203.0.113.7, 10.0.0.9",
                                           "",
                                           " ",
                                           "203.0.113.7:80",
                                           "203.0.113.07",
                                           "2001:db8::1",
                                           "::ffff:203.0.113.7",
                                           "unknown",
                                           "1.2.3",
                                           "1.2.3.4.5",
                                           "1.2.3.256",
                                           "203.0.113.7,",
                                           " 203.0.113.7"};
  std::size_t short_ways = 0;
  for (const unsigned count : {0U, 1U, 2U}) {
    for (const ForwardedHeader header :
         {ForwardedHeader::kNone, ForwardedHeader::kXForwardedFor, ForwardedHeader::kForwarded}) {
      for (const char* peer : {"", "10.0.0.1", "192.0.2.1", "2001:db8::2"}) {
        ClientOptions options;
        options.trusted = {
            .networks = {*Network::Parse("2001:db8::/64"), *Network::Parse("10.0.0.0/8")},
            .count = count,
            .header = header};
        const ClientIdentifier identifier(std::move(options));
        const std::optional<Address> from = Address::Parse(peer);
        const ClientsOfPeer clients(identifier, from);
        for (const std::string& value : values) {
          const std::vector<HeaderField> fields = {{"A", "b"}, {"X-Forwarded-For", value}};
          const Identity identity = identifier.Identify({from, std::nullopt, fields}, kNow);
          EXPECT_EQ(clients.Identify(fields, kNow).ip, identity.ip);
          Address address;
          if (!clients.IsAddressIn(fields[1], address)) continue;
          ++short_ways;
          EXPECT_EQ(address, identity.ip) << value;
          EXPECT_EQ(value, identity.ip.ToString());
        }
      }
    }
  }
  EXPECT_GT(short_ways, 10U);
}

TEST(ClientTest, ClientsOfAPeerAreKnownByTheOptionsOfWhenTheyWereRead) {
  ClientIdentifier identifier(Everything());
  const HeaderField forwarded_for{"X-Forwarded-For", "203.0.113.7"};
  Address address;
  const ClientsOfPeer before(identifier, Address::Parse("10.0.0.1"));
  identifier.Replace(ClientOptions{});
  EXPECT_TRUE(before.IsAddressIn(forwarded_for, address));
  const ClientsOfPeer after(identifier, Address::Parse("10.0.0.1"));
  EXPECT_FALSE(after.IsAddressIn(forwarded_for, address));
}

}  // namespace
}  // namespace weir::rule
