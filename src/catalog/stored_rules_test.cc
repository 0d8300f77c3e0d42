#include "catalog/stored_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::catalog {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

StoredRule Stored(const std::string& space, const std::string& name, Revision revision,
                  const std::string& rest = "limit: 5/min") {
  return {space, name, revision, "name: " + name + "\n" + rest + "\n"};
}

TEST(StoredRuleReaderTest, PutsTheRulesOfANamespaceTogetherInTheirOrder) {
  StoredRuleReader reader;
  rule::Problems problems;
  const std::vector<StoredRule> stored = {Stored("bank", "a", 3), Stored("shop", "z", 1),
                                          Stored("shop", "a", 2)};
  const auto sets = reader.Read(stored, problems);
  ASSERT_THAT(sets, SizeIs(2));
  EXPECT_EQ(sets[0].space, "bank");
  EXPECT_EQ(sets[1].space, "shop");
  ASSERT_THAT(sets[1].rules, SizeIs(2));
  EXPECT_EQ(sets[1].rules[0].name, "z");
  EXPECT_EQ(sets[1].rules[1].name, "a");
  EXPECT_THAT(problems, IsEmpty());
}

TEST(StoredRuleReaderTest, WhatItRemembersIsWhatItWouldRead) {
  StoredRuleReader reader;
  std::vector<StoredRule> stored = {Stored("a", "same", 1), Stored("b", "same", 2),
                                    Stored("b", "other", 3)};
  rule::Problems problems;
  reader.Read(stored, problems);
  stored[1] = Stored("b", "same", 4, "limit: 7/min");
  stored.pop_back();
  const auto again = reader.Read(stored, problems);
  EXPECT_EQ(again, StoredRuleReader().Read(stored, problems));
  EXPECT_NE(again[0].rules[0], again[1].rules[0]);
  EXPECT_THAT(problems, IsEmpty());
}

TEST(StoredRuleReaderTest, ARuleThatCannotBeReadIsNamedWithItsRevisionEveryTime) {
  StoredRuleReader reader;
  const std::vector<StoredRule> stored = {Stored("shop", "fine", 1),
                                          Stored("shop", "login", 7, "from_the_future: 1")};
  for (int i = 0; i < 2; ++i) {
    rule::Problems problems;
    reader.Read(stored, problems);
    ASSERT_FALSE(problems.empty());
    for (const rule::Problem& problem : problems) EXPECT_EQ(problem.file, "shop/login@7");
  }
}

TEST(StoredRuleReaderTest, ARuleUnderAnotherNameIsAProblem) {
  rule::Problems problems;
  StoredRule stored = Stored("shop", "login", 7);
  stored.name = "logon";
  StoredRuleReader().Read({stored}, problems);
  ASSERT_THAT(problems, SizeIs(1));
  EXPECT_THAT(problems[0].ToString(), HasSubstr("is kept under the name 'logon'"));
}

TEST(StoredRuleReaderTest, TheDigestTellsRulesApart) {
  const StoredRule rule = Stored("shop", "login", 1);
  StoredRule elsewhere = rule;
  elsewhere.space = "bank";
  EXPECT_EQ(DigestOfRules({rule}), DigestOfRules({rule}));
  EXPECT_NE(DigestOfRules({rule}), DigestOfRules({elsewhere}));
  EXPECT_NE(DigestOfRules({rule}), DigestOfRules({}));
}

}  // namespace
}  // namespace weir::catalog
