#include "rule/json_object.h"

#include <gtest/gtest.h>

#include <string>

namespace weir::rule {
namespace {

std::string Nested(int depth) {
  const auto lists = static_cast<std::size_t>(depth - 1);  // the object itself is one level
  return "{\"a\":" + std::string(lists, '[') + std::string(lists, ']') + "}";
}

TEST(JsonObjectTest, HoldsTextsNumbersAndListsOfTexts) {
  const auto object = JsonObject::Parse(
      R"( {"text": "a\u00e9", "whole": -7, "part": 1.5, "large": 18446744073709551615,
           "texts": ["x", "y"], "none": []} )");
  ASSERT_TRUE(object) << object.error().message;
  EXPECT_EQ(*object->FindText("text"), "a\u00e9");
  EXPECT_EQ(std::get<std::int64_t>(*object->Find("whole")), -7);
  EXPECT_EQ(std::get<double>(*object->Find("part")), 1.5);
  EXPECT_EQ(std::get<double>(*object->Find("large")), 18446744073709551615.0);
  EXPECT_EQ(std::get<JsonObject::Texts>(*object->Find("texts")), (JsonObject::Texts{"x", "y"}));
  EXPECT_TRUE(std::get<JsonObject::Texts>(*object->Find("none")).empty());
  EXPECT_EQ(object->Find("other"), nullptr);
  EXPECT_EQ(object->FindText("whole"), nullptr);
}

TEST(JsonObjectTest, IgnoresValuesOfOtherKinds) {
  const auto object = JsonObject::Parse(
      R"({"a": {"sub": "inner", "l": ["q"]}, "b": ["x", 1], "c": ["x", ["y"]], "d": ["x", {"k": "y"}],
          "e": true, "f": null, "g": [["x"], "y"]})");
  ASSERT_TRUE(object) << object.error().message;
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g"}) {
    ASSERT_NE(object->Find(name), nullptr) << name;
    EXPECT_TRUE(std::holds_alternative<JsonObject::Ignored>(*object->Find(name))) << name;
  }
  EXPECT_EQ(object->Find("sub"), nullptr);
}

TEST(JsonObjectTest, RefusesANameGivenTwice) {
  EXPECT_FALSE(JsonObject::Parse(R"({"sub": "a", "sub": "b"})"));
  EXPECT_FALSE(JsonObject::Parse(R"({"sub": "a", "s\u0075b": "a"})"));
  EXPECT_TRUE(JsonObject::Parse(R"({"sub": "a", "sub2": "b"})"));
}

TEST(JsonObjectTest, RefusesWhatIsNotOneObject) {
  for (const char* text : {"",
                           "null",
                           "[]",
                           "[{}]",
                           "\"a\"",
                           "1",
                           "{} {}",
                           "{}x",
                           "{",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "{a:1}",
                           "{'a':1}",
                           "{\"a\":NaN}",
                           "{\"a\":1e999}",
                           "{\"a\":\"\xFF\"}",
                           "{\"a\xED",
                           "{\"a\":\"\\ud800\"}",
                           "{\"a\":01}",
                           "// c\n{}"}) {
    EXPECT_FALSE(JsonObject::Parse(text)) << text;
  }
  EXPECT_FALSE(JsonObject::Parse(std::string("{}\0{}", 5)));
}

TEST(JsonObjectTest, DepthAndMembersAreBounded) {
  EXPECT_TRUE(JsonObject::Parse(Nested(JsonObject::kDeepest)));
  EXPECT_FALSE(JsonObject::Parse(Nested(JsonObject::kDeepest + 1)));
  EXPECT_FALSE(JsonObject::Parse(Nested(100'000)));

  std::string members;
  for (std::size_t i = 0; i < JsonObject::kMostMembers; ++i) {
    members += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":0";
  }
  EXPECT_TRUE(JsonObject::Parse("{" + members + "}"));
  EXPECT_FALSE(JsonObject::Parse("{" + members + ",\"one more\":0}"));
}

}  // namespace
}  // namespace weir::rule
