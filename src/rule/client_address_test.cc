#include "rule/client_address.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace weir::rule {
namespace {

Address A(std::string_view text) { return Address::Parse(text).value(); }

TrustedHops Private(ForwardedHeader header = ForwardedHeader::kXForwardedFor) {
  return {.networks = {*Network::Parse("10.0.0.0/8"), *Network::Parse("fd00::/8")},
          .count = 0,
          .header = header};
}

std::string Client(std::string_view peer, std::string_view forwarded_for,
                   const TrustedHops& trusted = Private()) {
  const std::vector<HeaderField> fields = {{"X-Forwarded-For", forwarded_for}};
  return ClientAddress(A(peer), std::nullopt, fields, trusted).ToString();
}

TEST(ClientAddressTest, IsTheConnectionsOwnWhereNoProxyIsTrusted) {
  EXPECT_EQ(Client("203.0.113.7", "6.6.6.6"), "203.0.113.7");
  EXPECT_EQ(Client("10.0.0.1", "203.0.113.7", TrustedHops{}), "10.0.0.1");
  EXPECT_EQ(Client("10.0.0.1", "203.0.113.7", Private(ForwardedHeader::kNone)), "10.0.0.1");
}

TEST(ClientAddressTest, IsTheFirstAddressThatIsNotTrusted) {
  EXPECT_EQ(Client("10.0.0.1", "203.0.113.7"), "203.0.113.7");
  EXPECT_EQ(Client("10.0.0.1", "6.6.6.6, 203.0.113.7, 10.0.0.2"), "203.0.113.7");
  EXPECT_EQ(Client("10.0.0.1", "2001:db8::7, [fd00::1]:80, 10.0.0.2:90"), "2001:db8::7");
  EXPECT_EQ(Client("::ffff:10.0.0.1", "::ffff:203.0.113.7"), "203.0.113.7");
}

TEST(ClientAddressTest, OfAChainThatIsAllTrustedIsTheLeftmost) {
  EXPECT_EQ(Client("10.0.0.1", "10.0.0.3, 10.0.0.2"), "10.0.0.3");
  EXPECT_EQ(Client("10.0.0.1", ""), "10.0.0.1");
}

TEST(ClientAddressTest, StopsAtTheHopThatNamesNoAddress) {
  for (const std::string entry : {"unknown", "garbage", "", "6.6.6.6.6"}) {
    EXPECT_EQ(Client("10.0.0.1", "6.6.6.6, " + entry), "10.0.0.1");
    EXPECT_EQ(Client("10.0.0.1", "6.6.6.6, " + entry + ", 10.0.0.2"), "10.0.0.2");
    EXPECT_EQ(Client("10.0.0.1", entry + ", 203.0.113.7, 10.0.0.2"), "203.0.113.7");
  }
}

TEST(ClientAddressTest, TheHeaderThatTheProxiesDoNotWriteIsNotRead) {
  const std::vector<HeaderField> fields = {{"X-Forwarded-For", "6.6.6.6"},
                                           {"Forwarded", "for=203.0.113.7"}};
  EXPECT_EQ(ClientAddress(A("10.0.0.1"), std::nullopt, fields, Private()), A("6.6.6.6"));
  EXPECT_EQ(
      ClientAddress(A("10.0.0.1"), std::nullopt, fields, Private(ForwardedHeader::kForwarded)),
      A("203.0.113.7"));
}

TEST(ClientAddressTest, CountsProxiesWhoseAddressesAreNotKnown) {
  const TrustedHops two{.networks = {}, .count = 2, .header = ForwardedHeader::kXForwardedFor};
  EXPECT_EQ(Client("192.0.2.1", "6.6.6.6, 203.0.113.7, 192.0.2.2", two), "203.0.113.7");
  EXPECT_EQ(Client("192.0.2.1", "203.0.113.7", two), "203.0.113.7");
  EXPECT_EQ(Client("192.0.2.1", "", two), "192.0.2.1");
}

TEST(ClientAddressTest, ProxiesThatAreCountedMayStandBehindThoseThatAreKnown) {
  TrustedHops both = Private();
  both.count = 1;
  EXPECT_EQ(Client("192.0.2.1", "6.6.6.6, 203.0.113.7, 10.0.0.2", both), "203.0.113.7");
  EXPECT_EQ(Client("192.0.2.1", "6.6.6.6, 203.0.113.7, 192.0.2.2", both), "192.0.2.2");
}

TEST(ClientAddressTest, TheProxyProtocolIsBelievedOfATrustedConnectionOnly) {
  const std::optional<Address> proxied = A("203.0.113.7");
  EXPECT_EQ(ClientAddress(A("10.0.0.1"), proxied, {}, Private()), A("203.0.113.7"));
  EXPECT_EQ(ClientAddress(A("192.0.2.1"), proxied, {}, Private()), A("192.0.2.1"));
}

TEST(ClientAddressTest, TheProxyProtocolStandsBetweenTheConnectionAndTheHeader) {
  const std::vector<HeaderField> fields = {{"X-Forwarded-For", "6.6.6.6, 203.0.113.7"}};
  EXPECT_EQ(ClientAddress(A("10.0.0.1"), A("10.0.0.2"), fields, Private()), A("203.0.113.7"));
  EXPECT_EQ(ClientAddress(A("10.0.0.1"), A("192.0.2.9"), fields, Private()), A("192.0.2.9"));
}

// Entries as proxies, clients and attackers write them.
class AnyText {
 public:
  explicit AnyText(unsigned seed) : random_(seed) {}

  std::string operator()() {
    static const std::vector<std::string> kPieces = {"6.6.6.6",
                                                     "10.0.0.9",
                                                     "fd00::9",
                                                     "[fd00::9]:1",
                                                     "unknown",
                                                     "for=",
                                                     "For=\"",
                                                     "\"",
                                                     "\\",
                                                     "\\\"",
                                                     ",",
                                                     ", ",
                                                     ";",
                                                     " ",
                                                     "\t",
                                                     "_x",
                                                     "",
                                                     ":80",
                                                     "for=10.0.0.9",
                                                     "for=\"[fd00::9]\"",
                                                     "\r\n",
                                                     std::string(1, '\0'),
                                                     std::string(2000, ',')};
    std::string text;
    for (std::size_t i = Below(12); i > 0; --i) text += kPieces[Below(kPieces.size())];
    return text;
  }
  std::size_t Below(std::size_t end) { return random_() % end; }

 private:
  std::mt19937 random_;
};

TEST(ClientAddressPropertyTest, NoHeaderChangesTheAddressOfWhoIsNotTrusted) {
  for (unsigned seed = 0; seed < 5'000; ++seed) {
    AnyText text(seed);
    const std::string first = text();
    const std::string second = text();
    const std::vector<HeaderField> fields = {{"X-Forwarded-For", first},
                                             {"Forwarded", second},
                                             {"X-Forwarded-For", second},
                                             {"Forwarded", first}};
    for (const auto header :
         {ForwardedHeader::kNone, ForwardedHeader::kXForwardedFor, ForwardedHeader::kForwarded}) {
      for (const char* peer : {"203.0.113.7", "2001:db8::7"}) {
        ASSERT_EQ(ClientAddress(A(peer), A("10.0.0.2"), fields, Private(header)), A(peer))
            << "seed " << seed;
      }
    }
  }
}

TEST(ClientAddressPropertyTest, NothingLeftOfTheClientsEntryChangesItsAddress) {
  for (unsigned seed = 0; seed < 5'000; ++seed) {
    AnyText text(seed);
    const std::string left = text() + ", ";
    const std::string line = text();
    const std::string quote = text.Below(2) == 0 ? "\"" : "";
    std::string plain = "203.0.113.7";
    std::string named = "for=" + quote + "203.0.113.7" + quote + ";host=\"a,\\\"b\"";
    for (std::size_t hops = text.Below(20); hops > 0; --hops) {
      plain += ", 10.0.0.2";
      named += ",for=\"[fd00::2]:80\"";
    }
    const std::vector<HeaderField> xff = {{"X-Forwarded-For", line}, {"X-Forwarded-For", plain}};
    const std::vector<HeaderField> rfc = {{"Forwarded", line}, {"Forwarded", named}};
    const std::string plain_left = left + plain;
    const std::string named_left = left + named;
    const std::vector<HeaderField> xff_left = {{"X-Forwarded-For", plain_left}};
    const std::vector<HeaderField> rfc_left = {{"Forwarded", named_left}};
    const auto client = [](const std::vector<HeaderField>& fields, ForwardedHeader header) {
      return ClientAddress(A("10.0.0.1"), std::nullopt, fields, Private(header)).ToString();
    };
    ASSERT_EQ(client(xff, ForwardedHeader::kXForwardedFor), "203.0.113.7") << "seed " << seed;
    ASSERT_EQ(client(xff_left, ForwardedHeader::kXForwardedFor), "203.0.113.7") << "seed " << seed;
    ASSERT_EQ(client(rfc, ForwardedHeader::kForwarded), "203.0.113.7") << "seed " << seed;
    ASSERT_EQ(client(rfc_left, ForwardedHeader::kForwarded), "203.0.113.7") << "seed " << seed;
  }
}

}  // namespace
}  // namespace weir::rule
