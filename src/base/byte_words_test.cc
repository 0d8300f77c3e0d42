#include "base/byte_words.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace weir {
namespace {

TEST(ByteWordsTest, TheFirstCharacterIsTheLowestByte) {
  EXPECT_EQ(LoadWord("\x01\x02\x03\x04\x05\x06\x07\x08"), 0x0807060504030201);
}

// Whatever stands behind it: borrows go upwards.
TEST(ByteWordsTest, TheFirstMarkIsAlwaysRight) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 500'000; ++i) {
    // Bytes near the bound, so that both happen often.
    std::array<char, kWordBytes> bytes;
    const auto bound = static_cast<unsigned char>(random() % 0x81);
    for (char& byte : bytes) byte = static_cast<char>(bound + random() % 4 - 2);
    if (random() % 2 == 0) bytes[random() % 8] = static_cast<char>(random());
    std::size_t below = 0;
    while (below < 8 && static_cast<unsigned char>(bytes[below]) >= bound) ++below;
    std::size_t equal = 0;
    while (equal < 8 && bytes[equal] != static_cast<char>(bound)) ++equal;

    const std::uint64_t word = LoadWord(bytes.data());
    const std::uint64_t marks_below = MarkBelow(word, bound);
    ASSERT_EQ(marks_below == 0 ? 8 : FirstMark(marks_below), below);
    const std::uint64_t marks_equal = MarkEqual(word, static_cast<char>(bound));
    ASSERT_EQ(marks_equal == 0 ? 8 : FirstMark(marks_equal), equal);
  }
}

}  // namespace
}  // namespace weir
