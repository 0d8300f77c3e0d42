#include "service/key_override.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rule/rule_file.h"
#include "rule/rule_writer.h"

namespace weir {
namespace {

using std::chrono::hours;
using testing::HasSubstr;
using testing::Not;

constexpr std::chrono::sys_seconds kNow{std::chrono::sys_days(std::chrono::year(2026) / 6 / 1)};

rule::Rule RuleOf(const std::string& text) {
  rule::Problems problems;
  const auto rule = rule::ReadRule(text, "test", problems);
  for (const auto& problem : problems) ADD_FAILURE() << problem.ToString();
  return rule.value();
}

// As text, or the error.
std::string With(const rule::Rule& rule, const std::vector<rule::Attribute>& attributes) {
  const auto result = WithOverride(
      rule, {attributes, Limit::Parse("token_bucket 9/1s").value(), kNow + hours(1)}, kNow);
  return result.ok() ? rule::WriteRule(*result) : result.error().message;
}
std::string Without(const rule::Rule& rule, const std::vector<rule::Attribute>& attributes) {
  const auto result = WithoutOverride(rule, attributes, kNow);
  return result.ok() ? rule::WriteRule(*result) : result.error().message;
}

TEST(KeyOverrideTest, StandsInFrontAndReadsBack) {
  const rule::Rule rule =
      RuleOf("{name: a, by: [user], limit: 1/s, overrides: [{when: {user: 'a*'}, limit: 2/s}]}");
  const std::string text = With(rule, {{"user", "a*b"}});
  EXPECT_THAT(text, HasSubstr("overrides:\n"
                              "  - {when: {user: {exact: \"a*b\"}}, limit: 9/s, "
                              "until: 2026-06-01T01:00:00Z}\n"
                              "  - {when: {user: \"a*\"}, limit: 2/s}\n"));
  EXPECT_EQ(rule::WriteRule(RuleOf(text)), text);
}

TEST(KeyOverrideTest, AnAddressStandsForAllThatItsKeyHolds) {
  const rule::Rule rule = RuleOf("{name: a, by: [ip], limit: 1/s}");
  EXPECT_THAT(With(rule, {{"ip", "2001:db8::5"}}), HasSubstr("2001:db8::/64"));
  EXPECT_THAT(With(rule, {{"ip", "10.1.2.3"}}), HasSubstr("10.1.2.3"));
  EXPECT_THAT(With(rule, {{"ip", "ten"}}), HasSubstr("no address"));
}

TEST(KeyOverrideTest, TakesThePlaceOfTheOneBeforeAndClearsAwayWhatIsOver) {
  const rule::Rule rule = RuleOf(
      "name: a\nby: [[ip, user]]\nlimit: 1/s\noverrides:\n"
      "- {when: {user: ann, ip: 10.0.0.1}, limit: 2/s, until: 2999-01-01}\n"
      "- {when: {user: bob}, limit: 3/s, until: 2026-06-01}\n"
      "- {when: {user: eve}, limit: 4/s, until: 2026-06-02}\n");
  const std::string text = With(rule, {{"ip", "10.0.0.1"}, {"user", "ann"}});
  EXPECT_THAT(text, Not(HasSubstr("2/s")));
  EXPECT_THAT(text, Not(HasSubstr("bob")));
  EXPECT_THAT(text, HasSubstr("eve"));
  EXPECT_THAT(Without(rule, {{"user", "eve"}}), Not(HasSubstr("eve")));
  EXPECT_THAT(Without(rule, {{"user", "bob"}}), HasSubstr("no override for this client"));
}

TEST(KeyOverrideTest, SaysWhyThereCanBeNone) {
  EXPECT_THAT(With(RuleOf("{name: a, limit: 1/s}"), {{"user", "ann"}}), HasSubstr("as one"));
  EXPECT_THAT(With(RuleOf("{name: a, allow: true}"), {{"user", "ann"}}), HasSubstr("allow-list"));
  EXPECT_THAT(With(RuleOf("{name: a, descriptor: [{key: user}], limit: 1/s}"), {{"user", "ann"}}),
              HasSubstr("descriptor"));
  const rule::Rule by_user = RuleOf("{name: a, by: [user], limit: 1/s}");
  EXPECT_THAT(With(by_user, {{"plan", "pro"}}), HasSubstr("name a client by user"));
  EXPECT_THAT(With(by_user, {}), HasSubstr("no attribute"));
}

}  // namespace
}  // namespace weir
