#include "rule/field_name.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace weir::rule {
namespace {

// Of all lengths, so that each way to compare has its turn.
constexpr std::string_view kName = "x-2.plan_of-the-customer";

TEST(FieldNameTest, TheCaseOfLettersDoesNotMatter) {
  for (std::size_t size = 0; size <= kName.size(); ++size) {
    const std::string name(kName.substr(0, size));
    std::string upper = name;
    for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    EXPECT_TRUE(SameFieldName(name, name)) << name;
    EXPECT_TRUE(SameFieldName(upper, name)) << name;
  }
}

TEST(FieldNameTest, EveryOtherCharacterDoesWhereverItStands) {
  for (std::size_t size = 1; size <= kName.size(); ++size) {
    const std::string name(kName.substr(0, size));
    for (std::size_t at = 0; at < size; ++at) {
      for (unsigned c = 0x20; c < 256; ++c) {
        if (c == 0x7F) continue;
        std::string field = name;
        field[at] = static_cast<char>(c);
        ASSERT_EQ(SameFieldName(field, name), SameIgnoringCase(field, name)) << field << name;
      }
    }
  }
}

TEST(FieldNameTest, ALongerNameIsAnother) {
  EXPECT_FALSE(SameFieldName("x-plan", "x-plans"));
  EXPECT_FALSE(SameFieldName("x-plans", "x-plan"));
  EXPECT_FALSE(SameFieldName("", "x"));
}

}  // namespace
}  // namespace weir::rule
