#include "rule/envoy_scalar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace weir::rule {
namespace {

YamlNode Scalar(const std::string& text, bool quoted = false) {
  YamlNode node;
  node.kind = YamlNode::Kind::kScalar;
  node.scalar = text;
  node.quoted = quoted;
  return node;
}

template <typename T>
void ExpectIs(const std::string& text, const T& expected) {
  const YamlNode node = Scalar(text);
  const EnvoyScalar scalar = Resolve(node);
  ASSERT_TRUE(std::holds_alternative<T>(scalar)) << text << " is of kind " << scalar.index();
  EXPECT_EQ(std::get<T>(scalar), expected) << text;
}

void ExpectIsText(const std::string& text) { ExpectIs<std::string_view>(text, text); }

TEST(EnvoyScalarTest, WordsOfYaml11AreTruthsAndNulls) {
  for (const char* word : {"y", "Y", "yes", "YES", "true", "True", "on", "ON"})
    ExpectIs(word, true);
  for (const char* word : {"n", "N", "no", "No", "false", "FALSE", "off"}) ExpectIs(word, false);
  for (const char* word : {"~", "null", "Null", "NULL"}) ExpectIs(word, NullScalar{});
  for (const char* word : {"yEs", "nil", "tRue", "None", "t"}) ExpectIsText(word);
}

TEST(EnvoyScalarTest, IntegersHavePrefixesSignsAndUnderscores) {
  ExpectIs<std::int64_t>("0", 0);
  ExpectIs<std::int64_t>("010", 8);
  ExpectIs<std::int64_t>("0o10", 8);
  ExpectIs<std::int64_t>("0x1F", 31);
  ExpectIs<std::int64_t>("-0b101", -5);
  ExpectIs<std::int64_t>("+7", 7);
  ExpectIs<std::int64_t>("1_000", 1000);
  ExpectIs<std::int64_t>("9223372036854775807", INT64_MAX);
  ExpectIs<std::int64_t>("-9223372036854775808", INT64_MIN);
  ExpectIs<std::uint64_t>("9223372036854775808", std::uint64_t{1} << 63);
}

TEST(EnvoyScalarTest, WhatHasAPointOrAnExponentIsAFraction) {
  ExpectIs("1.5", 1.5);
  ExpectIs("1.", 1.0);
  ExpectIs(".5", 0.5);
  ExpectIs("-.5e1", -5.0);
  ExpectIs("1e3", 1000.0);
  ExpectIs("08", 8.0);                                       // not octal, and so not whole
  ExpectIs("18446744073709551616", 18446744073709551616.0);  // too large for an integer
  ExpectIs("+.inf", HUGE_VAL);
}

TEST(EnvoyScalarTest, EverythingElseIsText) {
  for (const char* text : {"10.0.0.1", "2027-01-31", "1:30", "-", "+", ".", "..", "+-5", "--5",
                           "0x", "0xg", "1e", "e3", "inf", "nan", "1.5.1", "_1", "5 "}) {
    ExpectIsText(text);
  }
  const YamlNode quoted = Scalar("5", true);
  EXPECT_EQ(Resolve(quoted), EnvoyScalar(std::string_view("5")));
}

TEST(EnvoyScalarTest, NumbersThatJsonDoesNotKnowAreSaid) {
  EXPECT_EQ(std::get<std::string>(MetadataJson(Scalar("1e30"))), "1e+30");
  EXPECT_EQ(std::get<std::string>(MetadataJson(Scalar("yes"))), "true");
  const YamlNode infinite = Scalar("-.inf");
  EXPECT_EQ(std::get<const YamlNode*>(MetadataJson(infinite)), &infinite);
}

}  // namespace
}  // namespace weir::rule
