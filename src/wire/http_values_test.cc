#include "wire/http_values.h"

#include <gtest/gtest.h>

#include <vector>

namespace weir::wire {
namespace {

using rule::HeaderField;

TEST(HttpValuesTest, AParameterIsFoundByItsDecodedName) {
  constexpr std::string_view kQuery = "a=1&b=x%20y&&c&=d&a=2&e%20f+g=3&h==&%zz=4";
  EXPECT_EQ(FindQueryParameter(kQuery, "a"), "1");
  EXPECT_EQ(FindQueryParameter(kQuery, "b"), "x%20y");
  EXPECT_EQ(FindQueryParameter(kQuery, "c"), "");
  EXPECT_EQ(FindQueryParameter(kQuery, ""), "d");
  EXPECT_EQ(FindQueryParameter(kQuery, "e f g"), "3");
  EXPECT_EQ(FindQueryParameter(kQuery, "h"), "=");
  EXPECT_EQ(FindQueryParameter(kQuery, "A"), std::nullopt);
  EXPECT_EQ(FindQueryParameter(kQuery, "%zz"), std::nullopt);
  EXPECT_EQ(FindQueryParameter("", ""), std::nullopt);
  EXPECT_EQ(FindQueryParameter("%61=b", "a"), "b");
}

TEST(HttpValuesTest, ACookieIsFoundInAnyOfTheFields) {
  const std::vector<HeaderField> fields = {
      {"X-Cookie", "d=no"},
      {"cookie", "a=1; b=\"x y\";c=; e ; =f;g=h=i"},
      {"COOKIE", "a=2;d= 4 ; q=\""},
  };
  EXPECT_EQ(FindCookie(fields, "a"), "1");
  EXPECT_EQ(FindCookie(fields, "b"), "x y");
  EXPECT_EQ(FindCookie(fields, "c"), "");
  EXPECT_EQ(FindCookie(fields, "d"), "4");
  EXPECT_EQ(FindCookie(fields, "e"), std::nullopt);
  EXPECT_EQ(FindCookie(fields, "g"), "h=i");
  EXPECT_EQ(FindCookie(fields, "q"), "\"");
  EXPECT_EQ(FindCookie(fields, "A"), std::nullopt);
  EXPECT_EQ(FindCookie({}, "a"), std::nullopt);
}

}  // namespace
}  // namespace weir::wire
