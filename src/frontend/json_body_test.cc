#include "frontend/json_body.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace weir {
namespace {

using testing::HasSubstr;

std::string ProblemWith(const std::string& json) {
  rule::YamlNode root;
  rule::Problems problems;
  if (ReadJsonObject(json, root, problems)) return "";
  return problems.empty() ? "no reason" : problems.front().ToString();
}

std::string TextIn(const std::string& json) {
  rule::YamlNode root;
  rule::Problems problems;
  if (!ReadJsonObject(json, root, problems)) return "wrong: " + problems.front().ToString();
  return root.map.at(0).value.scalar;
}

TEST(JsonBodyTest, ReadsTextsAsJsonMeansThem) {
  EXPECT_EQ(TextIn(R"({"a":"b: c # d"})"), "b: c # d");
  EXPECT_EQ(TextIn(R"({"a":"\"\\\/\n\t"})"), "\"\\/\n\t");
  EXPECT_EQ(TextIn(R"({"a":"\u00e9"})"), "\xC3\xA9");
  EXPECT_EQ(TextIn("{\t\"a\"\n\t:\"b\"\t}"), "b");
}

TEST(JsonBodyTest, APairOfEscapesIsOneCharacter) {
  EXPECT_EQ(TextIn(R"({"a":"x\ud83d\ude00y"})"), "x\xF0\x9F\x98\x80y");
  EXPECT_EQ(TextIn(R"({"a":"\\ud83d\\ude00"})"), R"(\ud83d\ude00)") << "escaped, so no escapes";
  EXPECT_NE(ProblemWith(R"({"a":"\ud83d"})"), "") << "half of a pair";
}

TEST(JsonBodyTest, WhatIsNotOneObjectIsRefused) {
  EXPECT_EQ(ProblemWith(R"({"a":[1,{"b":null}]})"), "");
  EXPECT_THAT(ProblemWith(""), HasSubstr("not JSON"));
  EXPECT_THAT(ProblemWith("a: b"), HasSubstr("not JSON"));
  EXPECT_THAT(ProblemWith("{'a': 1}"), HasSubstr("not JSON"));
  EXPECT_THAT(ProblemWith("{} {}"), HasSubstr("not JSON"));
  EXPECT_THAT(ProblemWith("[]"), HasSubstr("must be an object"));
  EXPECT_THAT(ProblemWith("5"), HasSubstr("must be an object"));
  EXPECT_THAT(ProblemWith("{\"a\":\"\xC3\"}"), HasSubstr("not UTF-8"));
  EXPECT_NE(ProblemWith(R"({"a":1,"a":2})"), "") << "which of them would count?";
}

TEST(JsonBodyTest, DepthIsBounded) {
  const auto nested = [](int levels) {
    return "{\"a\":" + std::string(levels - 1, '[') + std::string(levels - 1, ']') + "}";
  };
  EXPECT_EQ(ProblemWith(nested(kDeepestJson)), "");
  EXPECT_THAT(ProblemWith(nested(kDeepestJson + 1)), HasSubstr("nested too deep"));
  EXPECT_THAT(ProblemWith(std::string(1'000'000, '[')), HasSubstr("nested too deep"));
}

}  // namespace
}  // namespace weir
