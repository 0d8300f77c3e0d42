#include "wire/proxy_protocol.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::wire {
namespace {

using rule::Address;
using namespace std::string_literals;

Address A(std::string_view text) { return Address::Parse(text).value(); }

// The header of version 2 around `block`.
std::string V2(unsigned char command, unsigned char family, const std::string& block) {
  std::string bytes = "\r\n\r\n\0\r\nQUIT\n"s;
  bytes += static_cast<char>(command);
  bytes += static_cast<char>(family);
  bytes += static_cast<char>(block.size() >> 8);
  bytes += static_cast<char>(block.size() & 0xFF);
  return bytes + block;
}

const std::string kBlock4 = "\xCB\0\x71\x07\xC0\0\x02\x01\xDC\x04\x01\xBB"s;

std::string Block6() {
  const auto bytes = [](const Address& address) {
    return std::string(address.bytes().begin(), address.bytes().end());
  };
  return bytes(A("2001:db8::7")) + bytes(A("2001:db8::1")) + "\xDC\x04\x01\xBB";
}

// Headers and what is none, with bytes of the connection behind them.
std::vector<std::string> Samples() {
  return {
      "PROXY TCP4 203.0.113.7 192.0.2.1 56324 443\r\nGET /",
      "PROXY TCP6 2001:db8::7 2001:db8::1 56324 443\r\n",
      "PROXY UNKNOWN\r\nGET /",
      "PROXY UNKNOWN ffff:f...f:ffff ffff:f...f:ffff 65535 65535\r\n",
      "PROXY TCP4 203.0.113.7 192.0.2.1 56324\r\n",
      "PROXY TCP5 203.0.113.7 192.0.2.1 56324 443\r\n",
      "PROXY \r\n",
      "PROXYTCP4",
      "PROXY " + std::string(200, 'x') + "\r\n",
      "GET / HTTP/1.1\r\n\r\n",
      V2(0x21, 0x11, kBlock4) + "GET /",
      V2(0x21, 0x11, kBlock4 + "\x04\0\x02\0\0"s),
      V2(0x21, 0x12, kBlock4),
      V2(0x21, 0x21, Block6()) + "GET /",
      V2(0x21, 0x22, Block6()),
      V2(0x21, 0x31, std::string(216, 'a')),
      V2(0x21, 0x31, std::string(215, 'a')),
      V2(0x21, 0x00, "ignored"),
      V2(0x20, 0x00, ""),
      V2(0x20, 0x7F, "ignored"),
      V2(0x21, 0x11, kBlock4.substr(1)),
      V2(0x21, 0x21, Block6().substr(1)),
      V2(0x21, 0x13, kBlock4),
      V2(0x22, 0x11, kBlock4),
      V2(0x11, 0x11, kBlock4),
      V2(0x21, 0x11, kBlock4 + std::string(4096 - kBlock4.size(), 'x')),
      V2(0x21, 0x11, kBlock4 + std::string(4097 - kBlock4.size(), 'x')),
      "\r\n\r\n\0\r\nQUIX\n"s,
  };
}

TEST(ProxyProtocolTest, VersionOneNamesBothEnds) {
  const std::string line = "PROXY TCP4 203.0.113.7 192.0.2.1 56324 443\r\n";
  const ProxyHeader v4 = ParseProxyHeader(line + "GET /");
  EXPECT_EQ(v4.status, ProxyStatus::kHeader);
  EXPECT_EQ(v4.size, line.size());
  EXPECT_EQ(v4.source, (ProxyEndpoint{A("203.0.113.7"), 56324}));
  EXPECT_EQ(v4.destination, (ProxyEndpoint{A("192.0.2.1"), 443}));

  const ProxyHeader v6 = ParseProxyHeader("PROXY TCP6 2001:db8::7 ::1 0 65535\r\n");
  EXPECT_EQ(v6.status, ProxyStatus::kHeader);
  EXPECT_EQ(v6.source, (ProxyEndpoint{A("2001:db8::7"), 0}));
  EXPECT_EQ(v6.destination, (ProxyEndpoint{A("::1"), 65535}));
}

TEST(ProxyProtocolTest, VersionTwoNamesBothEnds) {
  const ProxyHeader v4 = ParseProxyHeader(V2(0x21, 0x11, kBlock4) + "GET /");
  EXPECT_EQ(v4.status, ProxyStatus::kHeader);
  EXPECT_EQ(v4.size, 28U);
  EXPECT_EQ(v4.source, (ProxyEndpoint{A("203.0.113.7"), 56324}));
  EXPECT_EQ(v4.destination, (ProxyEndpoint{A("192.0.2.1"), 443}));

  const ProxyHeader v6 = ParseProxyHeader(V2(0x21, 0x21, Block6()));
  EXPECT_EQ(v6.status, ProxyStatus::kHeader);
  EXPECT_EQ(v6.size, 52U);
  EXPECT_EQ(v6.source, (ProxyEndpoint{A("2001:db8::7"), 56324}));
  EXPECT_EQ(v6.destination, (ProxyEndpoint{A("2001:db8::1"), 443}));
}

TEST(ProxyProtocolTest, ExtensionsAreSkipped) {
  const std::string block = kBlock4 + "\x04\0\x02\0\0"s;
  const ProxyHeader header = ParseProxyHeader(V2(0x21, 0x11, block));
  EXPECT_EQ(header.size, 16 + block.size());
  EXPECT_EQ(header.source, (ProxyEndpoint{A("203.0.113.7"), 56324}));
}

TEST(ProxyProtocolTest, AProxyThatSpeaksForItselfOrCannotSayNamesNoAddress) {
  for (const std::string& bytes :
       {"PROXY UNKNOWN\r\n"s, "PROXY UNKNOWN 1 2 3 4 5 6\r\n"s, V2(0x20, 0x11, kBlock4),
        V2(0x20, 0xFF, ""), V2(0x21, 0x00, ""), V2(0x21, 0x31, std::string(216, 'a'))}) {
    const ProxyHeader header = ParseProxyHeader(bytes);
    EXPECT_EQ(header.status, ProxyStatus::kHeader);
    EXPECT_EQ(header.size, bytes.size());
    EXPECT_FALSE(header.source);
    EXPECT_FALSE(header.destination);
  }
}

TEST(ProxyProtocolTest, WhatBeginsOtherwiseIsNotProxy) {
  for (const std::string& bytes : {"GET / HTTP/1.1\r\n"s, "proxy TCP4"s, "PROXY\t"s, "\r\n\r\nX"s,
                                   "\r\n\r\n\0\r\nQUIT\r"s, "\0"s, "PRI * HTTP/2.0\r\n\r\n"s}) {
    EXPECT_EQ(ParseProxyHeader(bytes).status, ProxyStatus::kNotProxy) << bytes;
  }
}

TEST(ProxyProtocolTest, VersionOneIsReadStrictly) {
  for (const std::string& line :
       {"TCP4 203.0.113.7 192.0.2.1 56324"s, "TCP4 203.0.113.7 192.0.2.1 56324 443 "s,
        "TCP4 203.0.113.7  192.0.2.1 56324 443"s, " TCP4 203.0.113.7 192.0.2.1 56324 443"s,
        "TCP4 203.0.113.7 192.0.2.1 65536 443"s, "TCP4 203.0.113.7 192.0.2.1 056 443"s,
        "TCP4 203.0.113.7 192.0.2.1 -1 443"s, "TCP4 203.0.113.7 192.0.2.1 1 "s,
        "TCP4 2001:db8::7 192.0.2.1 1 2"s, "TCP6 203.0.113.7 192.0.2.1 1 2"s,
        "TCP4 203.0.113 192.0.2.1 1 2"s, "tcp4 203.0.113.7 192.0.2.1 1 2"s,
        "TCP4 203.0.113.7 192.0.2.1 1 2\nGET /"s, "TCP4 203.0.113.7 192.0.2.1 1 2\0"s, "UNKNOWNX"s,
        ""s}) {
    EXPECT_EQ(ParseProxyHeader("PROXY " + line + "\r\n").status, ProxyStatus::kBad) << line;
  }
}

TEST(ProxyProtocolTest, LengthsAreBounded) {
  const std::string most = "PROXY UNKNOWN " + std::string(kLongestProxyV1 - 16, 'x');
  EXPECT_EQ(ParseProxyHeader(most + "\r\n").size, kLongestProxyV1);
  EXPECT_EQ(ParseProxyHeader(most + "x\r\n").status, ProxyStatus::kBad);
  EXPECT_EQ(ParseProxyHeader(most).status, ProxyStatus::kNeedMore);

  const std::string block = kBlock4 + std::string(4096 - kBlock4.size(), 'x');
  EXPECT_EQ(ParseProxyHeader(V2(0x21, 0x11, block)).size, kLongestProxyV2);
  // Told by its length, before any of it came.
  const std::string longer = V2(0x21, 0x11, block + "x").substr(0, 16);
  EXPECT_EQ(ParseProxyHeader(longer).status, ProxyStatus::kBad);
}

TEST(ProxyProtocolTest, ByteByByteGivesTheSameAsAllAtOnce) {
  for (const std::string& bytes : Samples()) {
    const ProxyHeader whole = ParseProxyHeader(bytes);
    ASSERT_NE(whole.status, ProxyStatus::kNeedMore);
    ProxyHeader fed;
    std::size_t size = 0;
    while (fed.status == ProxyStatus::kNeedMore && size <= bytes.size()) {
      fed = ParseProxyHeader(std::string_view(bytes).substr(0, size++));
    }
    EXPECT_EQ(fed, whole) << bytes;
    // Not one byte early: a header is known when its last byte has come.
    if (whole.status == ProxyStatus::kHeader) {
      EXPECT_EQ(size - 1, whole.size) << bytes;
    }
  }
}

TEST(ProxyProtocolTest, AHeaderCutShortNeedsMore) {
  for (const std::string& bytes : Samples()) {
    const ProxyHeader whole = ParseProxyHeader(bytes);
    if (whole.status != ProxyStatus::kHeader) continue;
    for (std::size_t size = 0; size < whole.size; ++size) {
      ASSERT_EQ(ParseProxyHeader(bytes.substr(0, size)).status, ProxyStatus::kNeedMore);
    }
  }
}

}  // namespace
}  // namespace weir::wire
