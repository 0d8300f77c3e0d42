#include "base/byte_block.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

namespace weir {
namespace {

// Every character at every place, beside others that must not matter.
TEST(ByteBlockTest, MarksEveryCharacterOfAKindAtEveryPlaceAndNoOther) {
  for (const char beside : {'a', '\0', '\xFF', '-', ' '}) {
    for (std::size_t at = 0; at < ByteBlock::kSize; ++at) {
      for (unsigned c = 0; c < 256; ++c) {
        std::array<char, ByteBlock::kSize> bytes;
        bytes.fill(beside);
        bytes[at] = static_cast<char>(c);
        const ByteBlock block(bytes.data());
        const auto is_marked = [at](ByteMarks marks) { return (marks >> at & 1) != 0; };
        for (const unsigned bound : {1U, 0x20U, 0x21U, 0x80U, 0xFFU}) {
          ASSERT_EQ(is_marked(block.Below(static_cast<unsigned char>(bound))), c < bound);
        }
        ASSERT_EQ(is_marked(block.Equal('#')), c == '#');
        std::array<char, ByteBlock::kSize> others;
        others.fill(beside);
        const ByteMarks same = block.Equal(ByteBlock(others.data()));
        ASSERT_EQ(same | 1U << at, kAllMarks);
        ASSERT_EQ(is_marked(same), static_cast<char>(c) == beside);
        ASSERT_EQ(is_marked(block.NoAscii()), c >= 0x80);
        ASSERT_EQ(is_marked(block.Controls()), c < 0x20 || c == 0x7F);
        ASSERT_EQ(is_marked(block.LettersOr('-')),
                  (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-');
        if (c == '#') {
          ASSERT_EQ(FirstMark(block.Equal('#')), at);
        }
      }
    }
  }
}

TEST(ByteBlockTest, OneOfTwoCharactersIsFoundInTextsOfAnyLength) {
  for (std::size_t size = 0; size < 70; ++size) {
    EXPECT_FALSE(HasEither(std::string(size, 'x'), '?', '%'));
    for (std::size_t at = 0; at < size; ++at) {
      for (const char c : {'?', '%', '&', '\0'}) {
        // Surrounded by what is not part of it.
        std::string text(size + 2, '?');
        for (std::size_t i = 0; i < size; ++i) text[i + 1] = 'x';
        text[at + 1] = c;
        ASSERT_EQ(HasEither(std::string_view(text).substr(1, size), '?', '%'),
                  c == '?' || c == '%');
      }
    }
  }
}

}  // namespace
}  // namespace weir
