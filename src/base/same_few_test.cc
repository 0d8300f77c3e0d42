#include "base/same_few.h"

#include <gtest/gtest.h>

#include <string>

namespace weir {
namespace {

TEST(SameFewTest, TextsOfEveryLengthAreTheSameOrDifferInAnyOneCharacter) {
  for (std::size_t size = 0; size < 40; ++size) {
    std::string one;
    for (std::size_t i = 0; i < size; ++i) one += static_cast<char>('a' + i);
    EXPECT_TRUE(SameFew(one, std::string(one))) << size;
    for (std::size_t at = 0; at < size; ++at) {
      std::string other = one;
      other[at] = '\0';
      EXPECT_FALSE(SameFew(one, other)) << size << ", " << at;
      EXPECT_FALSE(SameFew(other, one)) << size << ", " << at;
    }
  }
}

TEST(SameWordsTest, TextsOfEveryLengthAreTheSameOrDifferInAnyOneCharacter) {
  for (std::size_t size = kWordBytes; size < 100; ++size) {
    const std::string one(size, 'a');
    EXPECT_TRUE(SameWords(one.data(), std::string(one).data(), size)) << size;
    for (std::size_t at = 0; at < size; ++at) {
      std::string other = one;
      other[at] = 'b';
      EXPECT_FALSE(SameWords(one.data(), other.data(), size)) << size << ", " << at;
    }
  }
}

TEST(SameFewTest, OneThatGoesOnIsAnother) {
  EXPECT_FALSE(SameFew("shop", "shops"));
  EXPECT_FALSE(SameFew("", std::string_view("\0", 1)));
  EXPECT_TRUE(SameFew("", {}));
}

}  // namespace
}  // namespace weir
