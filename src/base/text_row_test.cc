#include "base/text_row.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>

namespace weir {
namespace {

TEST(TextRowTest, AppendsWhenItIsGone) {
  std::string out = "before ";
  {
    TextRow row(out);
    row.Text("limit ");
    row.Number(std::uint64_t{17});
    row.Char(' ');
    row.Number(std::int64_t{-3});
    row.Text(std::string_view());
  }
  EXPECT_EQ(out, "before limit 17 -3");
}

// However long it becomes, and wherever a piece meets the end of its room.
TEST(TextRowTest, IsTheSameAsItsPiecesOneByOne) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2'000; ++i) {
    std::string out = "before";
    std::string expected = out;
    {
      TextRow row(out);
      for (std::size_t pieces = random() % 60; pieces > 0; --pieces) {
        const std::string text(random() % (random() % 8 == 0 ? 600 : 40), 'x');
        const std::uint64_t number = random() >> random() % 64;
        row.Text(text);
        row.Text("literal");
        row.Number(number);
        row.Number(static_cast<std::int64_t>(number));
        row.Char('c');
        expected += text + "literal" + std::to_string(number) +
                    std::to_string(static_cast<std::int64_t>(number)) + 'c';
      }
    }
    ASSERT_EQ(out, expected);
  }
}

}  // namespace
}  // namespace weir
