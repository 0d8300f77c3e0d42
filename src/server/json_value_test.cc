#include "server/json_value.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

TEST(JsonValueTest, IsATree) {
  const auto value = JsonValue::Parse(
      R"({"a": [1, -2.5, true, null, "x\n\ud83d\ude00"], "b": {"c": {"d": 7}}, "e": []})");
  ASSERT_TRUE(value) << value.error().message;
  const JsonValue& a = (*value)["a"];
  ASSERT_EQ(a.items.size(), 5);
  EXPECT_EQ(a.items[0].number(), 1);
  EXPECT_EQ(a.items[1].text, "-2.5");
  EXPECT_EQ(a.items[1].number(), 0);
  EXPECT_TRUE(a.items[2].is_true());
  EXPECT_TRUE(a.items[3].is_null());
  EXPECT_EQ(a.items[4].text, "x\n\xF0\x9F\x98\x80");
  EXPECT_EQ((*value)["b"]["c"]["d"].number(), 7);
  EXPECT_TRUE((*value)["e"].items.empty());
}

TEST(JsonValueTest, WhatIsNotThereIsNull) {
  const auto value = JsonValue::Parse(R"({"a": 1})");
  EXPECT_TRUE((*value)["b"].is_null());
  EXPECT_TRUE((*value)["a"]["b"].is_null());
  EXPECT_EQ((*value)["b"].number(), 0);
}

TEST(JsonValueTest, NonsenseAndDepthAreErrors) {
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("{\"a\":}"), std::string("[1] x"),
        std::string("\"\xFF\""), std::string(100'000, '['), std::string("nul")}) {
    EXPECT_FALSE(JsonValue::Parse(text)) << text.substr(0, 20);
  }
  EXPECT_TRUE(JsonValue::Parse(std::string(32, '[') + std::string(32, ']')));
  EXPECT_FALSE(JsonValue::Parse(std::string(33, '[') + std::string(33, ']')));
}

}  // namespace
}  // namespace weir
