#include "rule/address_text.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>

namespace weir::rule {
namespace {

using Bytes = std::array<std::uint8_t, 16>;

std::optional<Bytes> Read(int family, const std::string& text) {
  Bytes bytes{};
  const bool read = family == AF_INET ? ReadIpv4(text, bytes.data()) : ReadIpv6(text, bytes.data());
  return read ? std::optional(bytes) : std::nullopt;
}

std::optional<Bytes> ReadByTheSystem(int family, const std::string& text) {
  Bytes bytes{};
  if (text.find('\0') != std::string::npos) return std::nullopt;
  return inet_pton(family, text.c_str(), bytes.data()) == 1 ? std::optional(bytes) : std::nullopt;
}

std::string Written(int family, const Bytes& bytes) {
  std::array<char, kLongestAddressText> text;
  const char* end = family == AF_INET ? WriteIpv4(bytes.data(), text.data())
                                      : WriteIpv6(bytes.data(), text.data());
  return {text.data(), static_cast<std::size_t>(end - text.data())};
}

std::string WrittenByTheSystem(int family, const Bytes& bytes) {
  std::array<char, 64> text{};
  return inet_ntop(family, bytes.data(), text.data(), text.size());
}

// Half of the groups are zero, so that there are runs of them.
Bytes RandomBytes(std::mt19937& random) {
  Bytes bytes{};
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    if (random() % 2 == 0) continue;
    const auto group = static_cast<unsigned>((random() & 0xFFFF) >> random() % 16);
    bytes[i] = static_cast<std::uint8_t>(group >> 8);
    bytes[i + 1] = static_cast<std::uint8_t>(group);
  }
  if (random() % 8 == 0) bytes = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 1, 2, 3, bytes[15]};
  return bytes;
}

TEST(AddressTextTest, WritesWhatTheSystemWrites) {
  std::mt19937 random(1);
  for (int i = 0; i < 100'000; ++i) {
    const Bytes bytes = RandomBytes(random);
    for (const int family : {AF_INET, AF_INET6}) {
      ASSERT_EQ(Written(family, bytes), WrittenByTheSystem(family, bytes));
    }
  }
}

TEST(AddressTextTest, ReadsWhatTheSystemReads) {
  for (const char* text : {"",
                           ":",
                           "::",
                           ":::",
                           "::1",
                           "1::",
                           "1:",
                           ":1",
                           "1:2:3:4:5:6:7:8",
                           "1:2:3:4:5:6:7::",
                           "::2:3:4:5:6:7:8",
                           "1:2:3:4:5:6:7:8::",
                           "::1:2:3:4:5:6:7:8",
                           "1::2:3:4:5:6:7:8",
                           "1::2::3",
                           "1:2:3:4:5:6:7",
                           "1:2:3:4:5:6:7:8:9",
                           "12345::",
                           "00001::",
                           "0001::",
                           "g::",
                           "1:2:3:4:5:6:",
                           "1:2:3:4:5:6:1.2.3.4",
                           "1:2:3:4:5:6:7:1.2.3.4",
                           "::1.2.3.4",
                           "::1.2.3",
                           "::1.2.3.4:5",
                           "::1.2.3.4.",
                           "::01.2.3.4",
                           "::256.2.3.4",
                           "::1a.2.3.4",
                           "1.2.3.4::",
                           "1:2:3:4:5::1.2.3.4",
                           "1:2:3:4:5:6::1.2.3.4",
                           "::.",
                           "::.1",
                           "::1.",
                           "1.2.3.4",
                           "1.2.3.4.",
                           "1.2.3.4.5",
                           "1.2.3",
                           ".1.2.3",
                           "1..2.3",
                           "01.2.3.4",
                           "0.0.0.0",
                           "00.0.0.0",
                           "255.255.255.255",
                           "256.1.1.1",
                           "1.2.3.1000",
                           "1.2.3.0004",
                           "+1.2.3.4",
                           "1.2.3.4 ",
                           " 1.2.3.4",
                           "1.2.3.-4",
                           "::1%lo",
                           "[::1]",
                           "::ffff:10.1.2.3",
                           "ABCD:ef01::Aa"}) {
    for (const int family : {AF_INET, AF_INET6}) {
      EXPECT_EQ(Read(family, text), ReadByTheSystem(family, text)) << text;
    }
  }
}

// Texts that were addresses once, and texts of their characters.
TEST(AddressTextTest, ReadsRandomTextsAsTheSystemDoes) {
  constexpr std::string_view kCharacters("0123456789abcdefABCDEF:::::......012gG %/\0\x80\xB1", 44);
  std::mt19937 random(2);
  int accepted = 0;
  for (int i = 0; i < 400'000; ++i) {
    std::string text;
    if (random() % 4 == 0) {
      for (std::size_t size = random() % 24; size > 0; --size) {
        text += kCharacters[random() % kCharacters.size()];
      }
    } else {
      text = WrittenByTheSystem(random() % 2 == 0 ? AF_INET : AF_INET6, RandomBytes(random));
      for (std::size_t changes = random() % 3; changes > 0 && !text.empty(); --changes) {
        const std::size_t at = random() % text.size();
        const char c = kCharacters[random() % kCharacters.size()];
        switch (random() % 3) {
          case 0:
            text[at] = c;
            break;
          case 1:
            text.insert(at, 1, c);
            break;
          default:
            text.erase(at, 1);
        }
      }
    }
    for (const int family : {AF_INET, AF_INET6}) {
      const auto expected = ReadByTheSystem(family, text);
      ASSERT_EQ(Read(family, text), expected) << text;
      accepted += expected ? 1 : 0;
    }
  }
  EXPECT_GT(accepted, 100'000);
}

}  // namespace
}  // namespace weir::rule
