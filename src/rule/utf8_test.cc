#include "rule/utf8.h"

#include <gtest/gtest.h>

namespace weir::rule {
namespace {

TEST(Utf8Test, FindsTheFirstByteThatIsNoText) {
  EXPECT_EQ(FirstInvalidUtf8(""), std::string_view::npos);
  EXPECT_EQ(FirstInvalidUtf8("a\u00e9\u20ac\U0001F600\U0010FFFF"), std::string_view::npos);
  EXPECT_EQ(FirstInvalidUtf8("ab\x80"), 2U);
  EXPECT_EQ(FirstInvalidUtf8(std::string_view("a\0b", 3)), 1U);
}

TEST(Utf8Test, KnowsTheLongFormsAndTheSurrogates) {
  for (const char* bad : {"\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xED\xBF\xBF",
                          "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFE",
                          "\xC3", "\xE2\x82", "\xF0\x9F\x98", "\xE2\x28\xA1"}) {
    EXPECT_EQ(FirstInvalidUtf8(bad), 0U);
  }
  for (const char* good : {"\xC2\x80", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
                           "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_EQ(FirstInvalidUtf8(good), std::string_view::npos);
  }
}

TEST(Utf8Test, ShowsWhatIsSafeToPrint) {
  EXPECT_EQ(Shown("plain \u00e9"), "plain \u00e9");
  EXPECT_EQ(Shown("a\nb\x1B[31m\x7F\xFF"), "a?b?[31m??");
  const std::string sixty(60, 'x');
  EXPECT_EQ(Shown(sixty), sixty);
  EXPECT_EQ(Shown(sixty + "y"), sixty + "...");
}

}  // namespace
}  // namespace weir::rule
