#include "base/numbered.h"

#include <gtest/gtest.h>

#include <string>

namespace weir {
namespace {

TEST(NumberedTest, EveryThingIsFoundByItsNumber) {
  Numbered<std::string> names;
  const std::size_t anna = names.Put("anna");
  const std::size_t ben = names.Put("ben");
  EXPECT_NE(anna, ben);
  EXPECT_EQ(names.size(), 2u);
  EXPECT_EQ(names.Take(anna), "anna");
  EXPECT_EQ(names.Take(ben), "ben");
  EXPECT_EQ(names.size(), 0u);
}

TEST(NumberedTest, NumbersAreGivenAgainOnceTheirThingHasEnded) {
  Numbered<std::string> names;
  const std::size_t anna = names.Put("anna");
  const std::size_t ben = names.Put("ben");
  names.Take(anna);
  EXPECT_EQ(names.Put("carl"), anna);
  EXPECT_EQ(names.Take(ben), "ben");
  EXPECT_EQ(names.Take(anna), "carl");
}

}  // namespace
}  // namespace weir
