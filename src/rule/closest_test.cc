#include "rule/closest.h"

#include <gtest/gtest.h>

#include <array>

namespace weir::rule {
namespace {

constexpr std::array<std::string_view, 5> kWords = {"limit", "limits", "mode", "match", "by"};

TEST(ClosestTest, CountsInsertionsRemovalsReplacementsAndSwaps) {
  EXPECT_EQ(EditDistance("", ""), 0U);
  EXPECT_EQ(EditDistance("limit", "limit"), 0U);
  EXPECT_EQ(EditDistance("limt", "limit"), 1U);
  EXPECT_EQ(EditDistance("limmit", "limit"), 1U);
  EXPECT_EQ(EditDistance("limot", "limit"), 1U);
  EXPECT_EQ(EditDistance("liimt", "limit"), 1U);
  EXPECT_EQ(EditDistance("", "mode"), 4U);
}

TEST(ClosestTest, SuggestsTheNearestWord) {
  EXPECT_EQ(Suggest("limt", kWords), "did you mean 'limit'?");
  EXPECT_EQ(Suggest("limitss", kWords), "did you mean 'limits'?");
  EXPECT_EQ(Suggest("mdoe", kWords), "did you mean 'mode'?");
}

TEST(ClosestTest, ListsThemAllIfNoneIsNear) {
  const std::string all = "there are limit, limits, mode, match, by";
  EXPECT_EQ(Suggest("colour", kWords), all);
  EXPECT_EQ(Suggest("", kWords), all);
  EXPECT_EQ(Suggest("xy", kWords), "did you mean 'by'?");
  EXPECT_EQ(Suggest("xx", kWords), all);
  EXPECT_EQ(Suggest(std::string(100'000, 'l'), kWords), all);
}

}  // namespace
}  // namespace weir::rule
