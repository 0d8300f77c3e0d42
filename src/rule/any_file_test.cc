#include "rule/any_file.h"

#include <gtest/gtest.h>

namespace weir::rule {
namespace {

TEST(AnyFileTest, OursAndEnvoysAreToldApart) {
  Problems problems;
  const auto ours =
      ReadAnyRules("namespace: shop\nrules: [{name: domain, limit: 5/min}]\n", "a.yaml", problems);
  const auto envoys = ReadAnyRules(
      "domain: edge\ndescriptors: [{key: k, rate_limit: {unit: minute, requests_per_unit: 5}}]\n",
      "b.yaml", problems);
  ASSERT_TRUE(ours && envoys) << problems.front().ToString();
  EXPECT_EQ(ours->space, "shop");
  EXPECT_FALSE(ours->rules.at(0).descriptor.has_value());
  EXPECT_EQ(envoys->space, "edge");
  EXPECT_TRUE(envoys->rules.at(0).descriptor.has_value());
}

TEST(AnyFileTest, WhatIsNeitherIsToldWhatIsWrongOnce) {
  for (const char* text : {"", "[", "domain: [", "just text", "domain", "descriptors: {"}) {
    Problems problems;
    EXPECT_FALSE(ReadAnyRules(text, "a.yaml", problems)) << text;
    EXPECT_GE(problems.size(), 1) << text;
    EXPECT_EQ(problems.front().file, "a.yaml");
  }
}

}  // namespace
}  // namespace weir::rule
