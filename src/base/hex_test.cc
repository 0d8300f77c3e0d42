#include "base/hex.h"

#include <gtest/gtest.h>

#include <array>

namespace weir {
namespace {

TEST(HexTest, EveryByteHasTwoDigits) {
  std::string text;
  for (const int byte : {0x00, 0x0a, 0x7f, 0xff}) AppendHex(static_cast<std::uint8_t>(byte), text);
  EXPECT_EQ(text, "000a7fff");
}

TEST(HexTest, BytesKeepTheirOrder) {
  constexpr std::array<std::uint8_t, 3> kBytes = {0xde, 0x01, 0xad};
  std::string text = "#";
  AppendHex(kBytes, text);
  EXPECT_EQ(text, "#de01ad");
}

TEST(HexTest, NumbersHaveSixteenDigitsTheHighestFirst) {
  std::string text;
  AppendHex(std::uint64_t{0x1234'5678'9abc'def0}, text);
  AppendHex(std::uint64_t{7}, text);
  EXPECT_EQ(text, "123456789abcdef00000000000000007");
}

}  // namespace
}  // namespace weir
