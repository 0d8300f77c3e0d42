#include "rule/match_memo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "rule/rule_file.h"

namespace weir::rule {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::uint64_t kSeed = 7;

std::unique_ptr<const Rulebook> BookOf(const std::string& rules) {
  Problems problems;
  auto set = ReadRules("namespace: shop\nrules:\n" + rules, "rules.yaml", problems);
  return Rulebook::Compile({set.value()}, problems);
}

class MatchMemoTest : public testing::Test {
 protected:
  std::vector<std::uint32_t> Find(const Rulebook& book, std::vector<Attribute> attributes) {
    const Space& space = *book.Find("shop");
    std::vector<std::uint32_t> found;
    memo_->Find(space, Values(space.schema(), attributes), kSeed, found);
    return found;
  }
  std::unique_ptr<MatchMemo> memo_ = std::make_unique<MatchMemo>();
};

TEST_F(MatchMemoTest, TheSecondRequestFindsWhatTheFirstFound) {
  const auto book = BookOf(
      "  - {name: a, match: {path: /a}, by: [user], limit: 1/s}\n"
      "  - {name: b, match: {path: /b}, by: [user], limit: 1/s}\n"
      "  - {name: all, limit: 1/s}\n");
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(Find(*book, {{"path", "/a"}, {"user", std::to_string(i)}}), ElementsAre(0, 2));
    EXPECT_THAT(Find(*book, {{"path", "/b"}, {"user", std::to_string(i)}}), ElementsAre(1, 2));
    EXPECT_THAT(Find(*book, {{"path", "/c"}}), ElementsAre(2));
  }
}

TEST_F(MatchMemoTest, AnEmptyValueIsNotAnAbsentOne) {
  const auto book = BookOf("  - {name: a, match: {plan: {present: true}}, limit: 1/s}\n");
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(Find(*book, {}), IsEmpty());
    EXPECT_THAT(Find(*book, {{"plan", ""}}), ElementsAre(0));
  }
}

TEST_F(MatchMemoTest, RulesThatTookThePlaceOfOthersFindTheirOwn) {
  const auto before = BookOf("  - {name: a, match: {path: /a}, limit: 1/s}\n");
  const auto after = BookOf("  - {name: a, match: {path: /b}, limit: 1/s}\n");
  EXPECT_THAT(Find(*before, {{"path", "/a"}}), ElementsAre(0));
  EXPECT_THAT(Find(*after, {{"path", "/a"}}), IsEmpty());
  EXPECT_THAT(Find(*before, {{"path", "/a"}}), ElementsAre(0));
}

TEST_F(MatchMemoTest, WhatIsNewEveryTimeIsFoundAllTheSame) {
  const auto book = BookOf(
      "  - {name: a, match: {path: {prefix: /a}}, limit: 1/s}\n"
      "  - {name: b, match: {path: {prefix: /b}}, limit: 1/s}\n");
  for (int i = 0; i < 20'000; ++i) {
    const std::string a = "/a" + std::to_string(i);
    const std::string b = "/b" + std::to_string(i);
    ASSERT_THAT(Find(*book, {{"path", a}}), ElementsAre(0));
    ASSERT_THAT(Find(*book, {{"path", b}}), ElementsAre(1));
  }
}

TEST_F(MatchMemoTest, MoreRulesThanItRemembersAreFoundEveryTime) {
  std::string rules;
  for (int i = 0; i < 20; ++i) {
    rules += "  - {name: r" + std::to_string(i) + ", match: {path: /a}, limit: 1/s}\n";
  }
  const auto book = BookOf(rules);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Find(*book, {{"path", "/a"}}).size(), 20U);
}

}  // namespace
}  // namespace weir::rule
