#include "base/byte_words.h"

#include <gtest/gtest.h>

#include <string>

namespace weir {
namespace {

TEST(ByteWordsTest, TheSameTextIsTheSameWord) {
  for (std::size_t size = 0; size <= kWordBytes; ++size) {
    const std::string text = std::string("12345678").substr(0, size);
    const std::string elsewhere = "x" + text + "y";
    EXPECT_EQ(LoadUpToWord(text), LoadUpToWord(std::string_view(elsewhere).substr(1, size)));
  }
}

TEST(ByteWordsTest, AnotherTextOfThatLengthIsAnotherWordWhereverItDiffers) {
  for (std::size_t size = 1; size <= kWordBytes; ++size) {
    const std::string text = std::string("12345678").substr(0, size);
    for (std::size_t i = 0; i < size; ++i) {
      std::string other = text;
      other[i] = '\xFF';
      EXPECT_NE(LoadUpToWord(text), LoadUpToWord(other)) << size << " " << i;
    }
  }
}

}  // namespace
}  // namespace weir
