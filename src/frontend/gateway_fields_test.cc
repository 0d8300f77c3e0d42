#include "frontend/gateway_fields.h"

#include <gtest/gtest.h>

#include <vector>

namespace weir {
namespace {

using Name = GatewayFields::Name;
using Fields = std::vector<rule::HeaderField>;

TEST(GatewayFieldsTest, AreFoundInAnyCase) {
  const Fields fields{{"X-Weir-Namespace", "a"}, {"x-weir-cost", "b"},
                      {"X-FORWARDED-URI", "c"},  {"X-Forwarded-Method", "d"},
                      {"X-Forwarded-Host", "e"}, {"X-Original-URI", "f"},
                      {"X-Original-URL", "g"},   {"X-Original-Method", "h"}};
  const GatewayFields said(fields);
  EXPECT_EQ(said[Name::kWeirNamespace], "a");
  EXPECT_EQ(said[Name::kWeirCost], "b");
  EXPECT_EQ(said[Name::kForwardedUri], "c");
  EXPECT_EQ(said[Name::kForwardedMethod], "d");
  EXPECT_EQ(said[Name::kForwardedHost], "e");
  EXPECT_EQ(said[Name::kOriginalUri], "f");
  EXPECT_EQ(said[Name::kOriginalUrl], "g");
  EXPECT_EQ(said[Name::kOriginalMethod], "h");
}

TEST(GatewayFieldsTest, OthersOfTheSameLengthAreNotThem) {
  const Fields fields{{"x-forwarded-for", "a"}, {"x-weir-names-ace", "b"}};
  const GatewayFields said(fields);
  EXPECT_EQ(said[Name::kForwardedUri], std::nullopt);
  EXPECT_EQ(said[Name::kWeirNamespace], std::nullopt);
}

TEST(GatewayFieldsTest, OfOneGivenTwiceTheFirstCountsThoughItIsEmpty) {
  const Fields fields{{"x-forwarded-uri", ""}, {"x-forwarded-uri", "/a"}, {"x-original-uri", "/b"}};
  const GatewayFields said(fields);
  EXPECT_EQ(said[Name::kForwardedUri], "");
  EXPECT_EQ(said.FirstOf("/c", Name::kForwardedUri), "/c");
  EXPECT_EQ(said.FirstOf("/c", Name::kForwardedUri, Name::kOriginalUri), "/b");
}

TEST(GatewayFieldsTest, APeerThatIsNotBelievedSaysNothing) {
  EXPECT_EQ(GatewayFields()[Name::kWeirCost], std::nullopt);
  EXPECT_EQ(GatewayFields().FirstOf("GET", Name::kForwardedMethod), "GET");
}

}  // namespace
}  // namespace weir
