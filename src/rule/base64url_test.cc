#include "rule/base64url.h"

#include <gtest/gtest.h>

namespace weir::rule {
namespace {

TEST(Base64UrlTest, DecodesTheExamplesOfTheStandard) {
  EXPECT_EQ(DecodeBase64Url(""), "");
  EXPECT_EQ(DecodeBase64Url("Zg"), "f");
  EXPECT_EQ(DecodeBase64Url("Zm8"), "fo");
  EXPECT_EQ(DecodeBase64Url("Zm9v"), "foo");
  EXPECT_EQ(DecodeBase64Url("Zm9vYg"), "foob");
  EXPECT_EQ(DecodeBase64Url("Zm9vYmFy"), "foobar");
  EXPECT_EQ(DecodeBase64Url("-_-_"), "\xFB\xFF\xBF");
}

TEST(Base64UrlTest, WritesWhatItReads) {
  EXPECT_EQ(EncodeBase64Url(""), "");
  for (const char* text : {"Zg", "Zm8", "Zm9v", "Zm9vYg", "Zm9vYmE", "Zm9vYmFy", "-_-_"}) {
    EXPECT_EQ(EncodeBase64Url(*DecodeBase64Url(text)), text);
  }
}

TEST(Base64UrlTest, RefusesEveryOtherWayToWriteTheSame) {
  EXPECT_FALSE(DecodeBase64Url("Zg=="));   // padded
  EXPECT_FALSE(DecodeBase64Url("Zh"));     // bits at the end
  EXPECT_FALSE(DecodeBase64Url("Zm9"));    // the same, two of them
  EXPECT_FALSE(DecodeBase64Url("+/+/"));   // the other alphabet
  EXPECT_FALSE(DecodeBase64Url("Zm 9v"));  // blanks
  EXPECT_FALSE(DecodeBase64Url("Zm9v\n"));
  EXPECT_FALSE(DecodeBase64Url("Zm9vY"));  // a digit alone is less than a byte
}

}  // namespace
}  // namespace weir::rule
