#include "rule/address.h"

#include <gtest/gtest.h>

#include <string>

namespace weir::rule {
namespace {

std::string Normal(std::string_view text) {
  const auto address = Address::Parse(text);
  return address ? address->ToString() : "nothing";
}

std::string NormalNetwork(std::string_view text) {
  const auto network = Network::Parse(text);
  return network ? network->ToString() : "nothing";
}

bool Contains(std::string_view network, std::string_view address) {
  return Network::Parse(network).value().Contains(Address::Parse(address).value());
}

TEST(AddressTest, IsTheSameHoweverItIsWritten) {
  EXPECT_EQ(Normal("10.1.2.3"), "10.1.2.3");
  EXPECT_EQ(Normal("::ffff:10.1.2.3"), "10.1.2.3");
  EXPECT_EQ(Normal("::FFFF:0a01:0203"), "10.1.2.3");
  EXPECT_EQ(Normal("2001:DB8:0:0:0:0:0:1"), "2001:db8::1");
  EXPECT_EQ(Normal("::"), "::");
  EXPECT_EQ(Normal("0.0.0.0"), "0.0.0.0");
  EXPECT_EQ(Normal("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255"),
            "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
}

TEST(AddressTest, NothingElseIsAnAddress) {
  using namespace std::string_view_literals;  // NOLINT(google-build-using-namespace)
  for (const std::string_view text : {""sv,
                                      " "sv,
                                      "10.1.2"sv,
                                      "10.1.2.3.4"sv,
                                      "10.1.2.256"sv,
                                      "010.1.2.3"sv,
                                      "10.1.2.03"sv,
                                      "0x0a.1.2.3"sv,
                                      "167837955"sv,
                                      " 10.1.2.3"sv,
                                      "10.1.2.3 "sv,
                                      "10.1.2.3:80"sv,
                                      "[::1]"sv,
                                      "fe80::1%eth0"sv,
                                      "1::2::3"sv,
                                      "12345::"sv,
                                      "::ffff:10.1.2.03"sv,
                                      "10.1.2.3\0"sv,
                                      "10.1.2.3\0x"sv,
                                      "::1\0"sv,
                                      "10.1.2.3/32"sv,
                                      "-1.1.1.1"sv,
                                      "+1.1.1.1"sv,
                                      "ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.2555"sv}) {
    EXPECT_EQ(Normal(text), "nothing") << text;
  }
}

TEST(AddressTest, OnlyMappedAddressesAreIpv4) {
  EXPECT_TRUE(Address::Parse("1.2.3.4")->is_v4());
  EXPECT_TRUE(Address::Parse("::ffff:0:0")->is_v4());
  EXPECT_FALSE(Address::Parse("::1.2.3.4")->is_v4());
  EXPECT_FALSE(Address::Parse("64:ff9b::1.2.3.4")->is_v4());
}

TEST(AddressTest, AMaskClearsAllButTheFirstBits) {
  const Address v4 = *Address::Parse("10.1.2.255");
  EXPECT_EQ(v4.Masked(32).ToString(), "10.1.2.255");
  EXPECT_EQ(v4.Masked(31).ToString(), "10.1.2.254");
  EXPECT_EQ(v4.Masked(24).ToString(), "10.1.2.0");
  EXPECT_EQ(v4.Masked(9).ToString(), "10.0.0.0");
  EXPECT_EQ(v4.Masked(0).ToString(), "0.0.0.0");
  EXPECT_EQ(v4.Masked(64).ToString(), "10.1.2.255");  // the bits of an IPv6 network
  const Address v6 = *Address::Parse("2001:db8:ffff:ffff:ffff::1");
  EXPECT_EQ(v6.Masked(128), v6);
  EXPECT_EQ(v6.Masked(64).ToString(), "2001:db8:ffff:ffff::");
  EXPECT_EQ(v6.Masked(33).ToString(), "2001:db8:8000::");
  EXPECT_EQ(v6.Masked(0).ToString(), "::");
}

TEST(NetworkTest, IsReadFromAnAddressAndItsBits) {
  EXPECT_EQ(NormalNetwork("10.0.0.0/8"), "10.0.0.0/8");
  EXPECT_EQ(NormalNetwork("10.1.2.3"), "10.1.2.3/32");
  EXPECT_EQ(NormalNetwork("2001:db8::/32"), "2001:db8::/32");
  EXPECT_EQ(NormalNetwork("::1"), "::1/128");
  EXPECT_EQ(NormalNetwork("0.0.0.0/0"), "0.0.0.0/0");
  EXPECT_EQ(NormalNetwork("::/0"), "::/0");
}

TEST(NetworkTest, AMappedOneCountsTheBitsOfIpv6) {
  EXPECT_EQ(NormalNetwork("::ffff:10.0.0.0/104"), "10.0.0.0/8");
  EXPECT_EQ(NormalNetwork("::ffff:0:0/96"), "0.0.0.0/0");
  EXPECT_EQ(NormalNetwork("::ffff:10.0.0.0/8"), "nothing");
  EXPECT_EQ(NormalNetwork("::ffff:0:0/95"), "nothing");
}

TEST(NetworkTest, WhatIsProbablyAMistakeIsRefused) {
  for (const char* text :
       {"10.1.0.0/8", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/+8", "10.0.0.0/08",
        "10.0.0.0/8/8", "10.0.0.0/ 8", "/8", "2001:db8::1/64", "2001:db8::/129", "::1/0",
        "10.0.0.0/99999999999999999999", "10.0.0.0/255.0.0.0"}) {
    EXPECT_EQ(NormalNetwork(text), "nothing") << text;
  }
}

TEST(NetworkTest, HoldsTheAddressesWithItsPrefix) {
  EXPECT_TRUE(Contains("10.0.0.0/8", "10.255.255.255"));
  EXPECT_FALSE(Contains("10.0.0.0/8", "11.0.0.0"));
  EXPECT_FALSE(Contains("10.0.0.0/8", "9.255.255.255"));
  EXPECT_TRUE(Contains("10.1.2.2/31", "::ffff:10.1.2.3"));
  EXPECT_FALSE(Contains("10.1.2.2/31", "10.1.2.4"));
  EXPECT_TRUE(Contains("10.1.2.3", "10.1.2.3"));
  EXPECT_FALSE(Contains("10.1.2.3", "10.1.2.2"));
  EXPECT_TRUE(Contains("2001:db8::/33", "2001:db8:7fff::1"));
  EXPECT_FALSE(Contains("2001:db8::/33", "2001:db8:8000::1"));
}

TEST(NetworkTest, Ipv4AndIpv6AreApart) {
  EXPECT_TRUE(Contains("0.0.0.0/0", "255.255.255.255"));
  EXPECT_FALSE(Contains("0.0.0.0/0", "::1"));
  EXPECT_TRUE(Contains("::/0", "ffff::1"));
  EXPECT_FALSE(Contains("::/0", "10.0.0.1"));
  EXPECT_FALSE(Contains("::/80", "::ffff:10.0.0.1"));
}

}  // namespace
}  // namespace weir::rule
