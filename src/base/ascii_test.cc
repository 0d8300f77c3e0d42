#include "base/ascii.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <random>
#include <string>
#include <string_view>

namespace weir {
namespace {

bool SameByteForByte(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return ToLower(x) == ToLower(y); });
}

TEST(AsciiTest, OnlyLettersHaveTwoCases) {
  for (unsigned c = 0; c < 256; ++c) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    EXPECT_EQ(ToLower(static_cast<char>(c)), static_cast<char>(is_upper ? c + 32 : c)) << c;
  }
}

// Every pair of characters at every place of a text longer than a word, and of a short one.
TEST(AsciiTest, ComparesEveryPairOfCharactersAtEveryPlace) {
  for (const std::string_view text : {"x-weir-cost", "content-length-17", "cost"}) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      std::string a(text);
      std::string b(text);
      for (unsigned x = 0; x < 256; ++x) {
        for (unsigned y = 0; y < 256; ++y) {
          a[at] = static_cast<char>(x);
          b[at] = static_cast<char>(y);
          ASSERT_EQ(SameIgnoringCase(a, b), SameByteForByte(a, b)) << x << ' ' << y << ' ' << at;
        }
      }
    }
  }
}

TEST(AsciiTest, ComparesRandomTextsAsByteForByte) {
  std::mt19937 random(1);
  constexpr std::string_view kCharacters = "aAzZ@[`{-\r_\x7F\x80\xC1\xE1";
  for (int i = 0; i < 200'000; ++i) {
    std::string a(random() % 40, ' ');
    for (char& c : a) c = kCharacters[random() % kCharacters.size()];
    std::string b = a;
    for (char& c : b) {
      if (random() % 4 == 0) c = static_cast<char>(c ^ 0x20);
    }
    ASSERT_EQ(SameIgnoringCase(a, b), SameByteForByte(a, b));
  }
}

TEST(AsciiTest, TextsOfDifferentLengthsDiffer) {
  EXPECT_FALSE(SameIgnoringCase("x-forwarded-for", "x-forwarded-fo"));
  EXPECT_FALSE(SameIgnoringCase("", "a"));
  EXPECT_TRUE(SameIgnoringCase("", ""));
  static_assert(SameIgnoringCase("Content-Length", "content-length"));
}

}  // namespace
}  // namespace weir
