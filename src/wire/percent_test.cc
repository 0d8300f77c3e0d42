#include "wire/percent.h"

#include <gtest/gtest.h>

namespace weir::wire {
namespace {

using namespace std::string_literals;

std::optional<std::string> Decoded(std::string_view text, Plus plus = Plus::kItself) {
  std::string storage = "what was there";
  const auto decoded = PercentDecode(text, plus, storage);
  if (!decoded) return std::nullopt;
  EXPECT_TRUE(PercentDecodesTo(text, plus, *decoded));
  EXPECT_FALSE(PercentDecodesTo(text, plus, std::string(*decoded) + "x"));
  EXPECT_FALSE(PercentDecodesTo(std::string(text) + "x", plus, *decoded));
  return std::string(*decoded);
}

TEST(PercentTest, EncodedBytesAreDecodedOnce) {
  EXPECT_EQ(Decoded("/a%20b%2Fc%2fd"), "/a b/c/d");
  EXPECT_EQ(Decoded("%C3%A4%00"), "\xC3\xA4\0"s);
  EXPECT_EQ(Decoded("%2541"), "%41");
  EXPECT_EQ(Decoded(""), "");
}

TEST(PercentTest, APlusIsABlankInAQueryAlone) {
  EXPECT_EQ(Decoded("a+b%2B", Plus::kItself), "a+b+");
  EXPECT_EQ(Decoded("a+b%2B", Plus::kBlank), "a b+");
}

TEST(PercentTest, WhatIsNotEncodedIsNotCopied) {
  const std::string_view text = "/a+b";
  std::string storage;
  EXPECT_EQ(PercentDecode(text, Plus::kItself, storage)->data(), text.data());
  EXPECT_NE(PercentDecode(text, Plus::kBlank, storage)->data(), text.data());
}

TEST(PercentTest, APercentThatStandsForNoByteIsRefused) {
  for (const std::string_view text :
       {"%", "a%", "%4", "%4g", "%g4", "%%41", "% 41", "%+1", "%-1"}) {
    EXPECT_EQ(Decoded(text), std::nullopt) << text;
    EXPECT_FALSE(PercentDecodesTo(text, Plus::kItself, text)) << text;
  }
}

}  // namespace
}  // namespace weir::wire
