#include "rule/anchor.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::rule {
namespace {

Condition Is(const std::string& attribute, PatternKind kind, const std::string& text) {
  return {attribute, {{kind, text}}, false};
}

std::vector<Anchor> AnchorsOf(const std::vector<Match>& matches) {
  std::vector<const Match*> pointers;
  for (const Match& match : matches) pointers.push_back(&match);
  return ChooseAnchors(pointers);
}

TEST(AnchorTest, IsTheConditionThatFewOthersShare) {
  std::vector<Match> matches;
  for (int i = 0; i < 100; ++i) {
    matches.push_back({Is("method", PatternKind::kExact, "POST"),
                       Is("path", PatternKind::kGlob, "/svc-" + std::to_string(i) + "/**")});
  }
  for (const Anchor& anchor : AnchorsOf(matches)) {
    EXPECT_EQ(anchor.kind, Anchor::Kind::kCondition);
    EXPECT_EQ(anchor.condition, 1U);
  }
}

TEST(AnchorTest, IsAPathThatFourShareRatherThanOneOfFourPlansThatEverybodyHas) {
  std::vector<Match> matches;
  for (const char* plan : {"free", "starter", "team", "pro"}) {
    matches.push_back({Is("path", PatternKind::kGlob, "/partner/**"),
                       Is("header.x-plan", PatternKind::kExact, plan)});
  }
  EXPECT_EQ(AnchorsOf(matches)[0].condition, 1U);  // there are more plans than paths
  for (int i = 0; i < 40; ++i) {
    matches.push_back({Is("path", PatternKind::kExact, "/page-" + std::to_string(i))});
  }
  EXPECT_EQ(AnchorsOf(matches)[0].condition, 0U);
}

TEST(AnchorTest, IsNeverWhatAlmostAlwaysHoldsIfThereIsAnother) {
  const Condition rare = Is("plan", PatternKind::kRegex, "p.*");
  for (const Condition& common :
       {Is("path", PatternKind::kGlob, "**"), Is("path", PatternKind::kGlob, "/**"),
        Is("path", PatternKind::kPrefix, "/"), Is("path", PatternKind::kPresent, ""),
        Is("ip", PatternKind::kCidr, "0.0.0.0/0"), Is("ip", PatternKind::kCidr, "::/0")}) {
    EXPECT_EQ(AnchorsOf({{common, rare}})[0].condition, 1U) << common.any_of[0].text;
    EXPECT_EQ(AnchorsOf({{rare, common}})[0].condition, 0U) << common.any_of[0].text;
    EXPECT_EQ(AnchorsOf({{common}})[0].kind, Anchor::Kind::kCondition) << common.any_of[0].text;
  }
}

TEST(AnchorTest, IsNeverANegatedCondition) {
  Condition negated = Is("path", PatternKind::kExact, "/a");
  negated.negated = true;
  const Condition present = Is("user", PatternKind::kPresent, "");
  EXPECT_EQ(AnchorsOf({{negated, present}})[0].condition, 1U);
  EXPECT_EQ(AnchorsOf({{negated}})[0].kind, Anchor::Kind::kNone);
  EXPECT_EQ(AnchorsOf({{}})[0].kind, Anchor::Kind::kNone);
}

TEST(AnchorTest, ThereIsNoneForWhatCannotHold) {
  const Match match = {Is("path", PatternKind::kExact, "/a"), Condition{"user", {}, false}};
  EXPECT_EQ(AnchorsOf({match})[0].kind, Anchor::Kind::kNever);
}

}  // namespace
}  // namespace weir::rule
