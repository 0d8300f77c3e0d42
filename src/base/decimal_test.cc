#include "base/decimal.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>

namespace weir {
namespace {

template <typename Number>
std::string Written(Number value) {
  std::array<char, kMostDigits> text;
  const char* end = WriteDecimal(value, text.data());
  return {text.data(), static_cast<std::size_t>(end - text.data())};
}

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(DecimalTest, WritesWhatTheStandardLibraryWrites) {
  for (std::uint64_t value = 0; value < 20'000; ++value) {
    ASSERT_EQ(Written(value), std::to_string(value));
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t value = random() >> random() % 64;
    ASSERT_EQ(Written(value), std::to_string(value));
    const auto either = static_cast<std::int64_t>(value);
    ASSERT_EQ(Written(either), std::to_string(either));
    ASSERT_EQ(Written(-1 - (either & kMost)), std::to_string(-1 - (either & kMost)));
  }
}

TEST(DecimalTest, WritesTheLargestNumbersInTheRoomThatIsSaidToBeEnough) {
  EXPECT_EQ(Written(std::numeric_limits<std::uint64_t>::max()).size(), kMostDigits);
  EXPECT_EQ(Written(kLeast), "-9223372036854775808");
  EXPECT_EQ(Written(kMost), "9223372036854775807");
}

TEST(DecimalTest, ReadsBackWhatItWrites) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20'000; ++i) {
    const auto value = static_cast<std::int64_t>(random()) >> random() % 64;
    ASSERT_EQ(ReadDecimal(Written(value)), value);
  }
  EXPECT_EQ(ReadDecimal("-9223372036854775808"), kLeast);
  EXPECT_EQ(ReadDecimal("9223372036854775807"), kMost);
}

TEST(DecimalTest, ReadsNothingButAWholeNumberThatFits) {
  for (const char* text :
       {"", "-", "+1", " 1", "1 ", "1.0", "0x1", "1e3", "--1", "1-", "/", ":",
        "9223372036854775808", "-9223372036854775809", "100000000000000000000000"}) {
    EXPECT_EQ(ReadDecimal(text), std::nullopt) << text;
  }
  EXPECT_EQ(ReadDecimal(std::string_view("1\0", 2)), std::nullopt);
  EXPECT_EQ(ReadDecimal("000000000000000000000007"), 7);
  EXPECT_EQ(ReadDecimal("-0"), 0);
}

}  // namespace
}  // namespace weir
