#include "rule/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rule/rule_file.h"

namespace weir::rule {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::chrono::sys_seconds kNow{std::chrono::sys_days(std::chrono::year(2026) / 6 / 1)};

class ExplainTest : public testing::Test {
 protected:
  const std::vector<Explanation>& Of(const std::string& rules,
                                     const std::vector<Attribute>& attributes) {
    Problems problems;
    set_ = ReadRules("namespace: shop\nrules:\n" + rules, "test.yaml", problems).value();
    explained_ = Explain(set_, attributes, kNow);
    return explained_;
  }

  RuleSet set_;
  std::vector<Explanation> explained_;
};

TEST_F(ExplainTest, NamesTheFirstConditionThatDoesNotHold) {
  const auto& explained =
      Of("- {name: a, match: {path: /login, method: [POST, PUT]}, limit: 1/s}\n"
         "- {name: b, match: {ip: {not: 10.0.0.0/8}}, limit: 1/s}\n"
         "- {name: c, match: {plan: pro}, limit: 1/s}",
         {{"path", "/login"}, {"method", "GET"}, {"ip", "10.1.2.3"}});
  EXPECT_FALSE(explained[0].applies);
  EXPECT_EQ(explained[0].why, "method is 'GET', and must be 'POST' or 'PUT'");
  EXPECT_EQ(explained[1].why, "ip is '10.1.2.3', and must be not in 10.0.0.0/8");
  EXPECT_EQ(explained[2].why, "plan is absent, and must be 'pro'");
}

TEST_F(ExplainTest, ShowsTheKeysAndWhatEachIsAllowed) {
  const auto& explained =
      Of("- {name: a, match: {path: '/api/**'}, by: [ip, user], limits: [10/s burst 20, 5000/h], "
         "tiers: [{v6: 48, limit: 100/s}]}",
         {{"path", "/api/x"}, {"ip", "2001:db8:1:2:3::4"}, {"user", "ann"}});
  ASSERT_TRUE(explained[0].applies);
  EXPECT_EQ(explained[0].why, "all conditions hold");
  ASSERT_EQ(explained[0].keys.size(), 2U);
  EXPECT_EQ(explained[0].keys[0].key, "ip=2001:db8:1:2::/64 user=ann");
  EXPECT_EQ(explained[0].keys[0].allowance, "token_bucket 10/1s burst 20 + token_bucket 5000/1h");
  EXPECT_EQ(explained[0].keys[1].key, "ip=2001:db8:1::/48 user=ann");
  EXPECT_EQ(explained[0].keys[1].allowance, "token_bucket 100/1s (tier)");
}

TEST_F(ExplainTest, SaysWhatIsMissingToFormAKey) {
  const auto& explained = Of("- {name: a, by: [user], limit: 1/s}", {{"ip", "10.1.2.3"}});
  EXPECT_FALSE(explained[0].applies);
  EXPECT_EQ(explained[0].why, "there is no user to count by");
  EXPECT_THAT(explained[0].keys, IsEmpty());
}

TEST_F(ExplainTest, ShowsTheOverrideThatCounts) {
  const auto& explained =
      Of("- {name: a, by: [user], limit: 1/s, overrides: [{when: {user: acme}, limit: 100/s}]}",
         {{"user", "acme"}});
  EXPECT_EQ(explained[0].keys[0].allowance, "token_bucket 100/1s (override)");
}

TEST_F(ExplainTest, PassesOverAnOverrideWhoseTimeIsOver) {
  const auto& explained =
      Of("- {name: a, by: [user], limit: 1/s, overrides: ["
         "{when: {user: acme}, limit: 100/s, until: 2026-06-01}, {when: {user: acme}, limit: 5/s, "
         "until: 2026-06-02}]}",
         {{"user", "acme"}});
  EXPECT_EQ(explained[0].keys[0].allowance, "token_bucket 5/1s (override)");
}

TEST_F(ExplainTest, SaysWhatIsOffOrExpired) {
  const auto& explained =
      Of("- {name: a, limit: 1/s, mode: 'off'}\n- {name: b, limit: 1/s, expires: 2026-06-01}\n"
         "- {name: c, limit: 1/s, expires: 2026-06-02}",
         {});
  EXPECT_EQ(explained[0].why, "it is off");
  EXPECT_EQ(explained[1].why, "it has expired");
  EXPECT_EQ(explained[2].why, "it matches every request");
  EXPECT_EQ(explained[2].keys[0].key, "all requests");
}

TEST_F(ExplainTest, FollowsDescriptorsInTheirOrder) {
  const std::string rules =
      "- {name: a, descriptor: [{key: path}], limit: 5/s}\n"
      "- {name: b, descriptor: [{key: path, value: /x}], limit: 1/s}";
  const auto& explained = Of(rules, {{"path", "/x"}});
  EXPECT_FALSE(explained[0].applies);
  EXPECT_EQ(explained[0].why, "another descriptor is found first");
  EXPECT_TRUE(explained[1].applies);
  EXPECT_EQ(explained[1].keys[0].key, "'/x'");
  EXPECT_TRUE(Of(rules, {{"path", "/y"}})[0].applies);
  EXPECT_EQ(Of(rules, {{"host", "y"}})[0].why, "no descriptor is like this request");
}

}  // namespace
}  // namespace weir::rule
