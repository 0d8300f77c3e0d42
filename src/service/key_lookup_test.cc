#include "service/key_lookup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rule/rule_file.h"
#include "service/descriptor_check.h"

namespace weir {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Instant kNoon{seconds(1'780'315'200)};

class KeyLookupTest : public testing::Test {
 protected:
  void Use(const std::string& rules) {
    rule::Problems problems;
    const auto set = rule::ReadRules("namespace: shop\nrules:\n" + rules, "test.yaml", problems);
    for (const auto& problem : problems) ADD_FAILURE() << problem.ToString();
    EXPECT_THAT(checker_.Publish({*set}, "test"), IsEmpty());
  }
  bool Allows(const std::vector<rule::Attribute>& attributes, Instant now = kNoon) {
    checker_.Check({"shop", attributes}, now, reply_);
    return reply_.allowed();
  }
  std::vector<KeyState> Look(const std::string& rule,
                             const std::vector<rule::Attribute>& attributes, Instant now = kNoon) {
    const KeyLookup found = LookUpKey(checker_, {"shop", rule, attributes}, now);
    if (const auto* nothing = std::get_if<NoSuchKey>(&found)) {
      ADD_FAILURE() << nothing->message;
      return {};
    }
    return std::get<std::vector<KeyState>>(found);
  }
  std::string WhyNot(const std::string& rule, const std::vector<rule::Attribute>& attributes) {
    const KeyLookup found = LookUpKey(checker_, {"shop", rule, attributes}, kNoon);
    const auto* nothing = std::get_if<NoSuchKey>(&found);
    return nothing != nullptr ? nothing->message : "";
  }
  void Reset(const std::string& rule, const std::vector<rule::Attribute>& attributes) {
    const KeyLookup found = ResetKey(checker_, {"shop", rule, attributes}, kNoon);
    EXPECT_TRUE(std::holds_alternative<std::vector<KeyState>>(found));
  }

  Checker checker_{std::move(Ledger::Open({.max_keys = 10'000})).value(), {}};
  CheckReply reply_;
};

TEST_F(KeyLookupTest, TellsEachLimitOfAKeyAndTakesNothing) {
  Use("- {name: a, match: {path: /x}, by: [user], limits: [2/min, sliding_log 10/h]}");
  EXPECT_TRUE(Allows({{"path", "/x"}, {"user", "ann"}}));
  for (int i = 0; i < 3; ++i) {
    const auto keys = Look("a", {{"user", "ann"}});
    ASSERT_EQ(keys.size(), 1U);
    EXPECT_EQ(keys[0].key, "user=ann");
    ASSERT_EQ(keys[0].limits.size(), 2U);
    EXPECT_EQ(keys[0].limits[0].decision.remaining, Permits{1});
    EXPECT_EQ(keys[0].limits[1].decision.remaining, Permits{9});
  }
  EXPECT_EQ(Look("a", {{"user", "bob"}})[0].limits[0].decision.remaining, Permits{2});
}

TEST_F(KeyLookupTest, AClientIsInItsWiderNetworksToo) {
  Use("- {name: a, by: [ip], limit: 1/min, tiers: [{v6: 48, limit: 5/min}]}");
  EXPECT_TRUE(Allows({{"ip", "2001:db8:1:2::1"}}));
  const auto keys = Look("a", {{"ip", "2001:db8:1:2::9"}});
  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys[0].key, "ip=2001:db8:1:2::/64");
  EXPECT_FALSE(keys[0].limits[0].decision.allowed());
  EXPECT_EQ(keys[1].by, KeyState::By::kTier);
  EXPECT_EQ(keys[1].limits[0].decision.remaining, Permits{4});
}

TEST_F(KeyLookupTest, AResetForgetsCountAndBanOfThisClientAlone) {
  Use("- {name: a, by: [user], limits: [2/h, sliding_log 5/h], exceed: ban 2h}");
  for (const char* user : {"ann", "bob"}) {
    EXPECT_TRUE(Allows({{"user", user}}) && Allows({{"user", user}}));
    EXPECT_FALSE(Allows({{"user", user}}));
  }
  EXPECT_EQ(Look("a", {{"user", "ann"}})[0].banned_for, Nanos(hours(2)));
  Reset("a", {{"user", "ann"}});
  EXPECT_EQ(Look("a", {{"user", "ann"}})[0].banned_for, std::nullopt);
  EXPECT_EQ(Look("a", {{"user", "ann"}})[0].limits[1].decision.remaining, Permits{5});
  EXPECT_TRUE(Allows({{"user", "ann"}}) && Allows({{"user", "ann"}}));
  EXPECT_FALSE(Allows({{"user", "ann"}}));
  EXPECT_FALSE(Allows({{"user", "bob"}}));
}

TEST_F(KeyLookupTest, AResetReachesWhatAnOverrideCountsByItself) {
  Use("- {name: a, by: [user], limit: 1/h, overrides: [{when: {plan: pro}, limit: 2/h}]}");
  const std::vector<rule::Attribute> pro = {{"user", "ann"}, {"plan", "pro"}};
  EXPECT_TRUE(Allows(pro) && Allows(pro) && !Allows(pro));
  EXPECT_TRUE(Allows({{"user", "ann"}}) && !Allows({{"user", "ann"}}));
  EXPECT_EQ(Look("a", pro)[0].by, KeyState::By::kOverride);
  Reset("a", {{"user", "ann"}});
  EXPECT_TRUE(Allows(pro) && Allows(pro) && !Allows(pro));
  EXPECT_TRUE(Allows({{"user", "ann"}}) && !Allows({{"user", "ann"}}));
}

TEST_F(KeyLookupTest, ADescriptorIsAKeyToo) {
  Use("- {name: a, descriptor: [{key: user}], limit: fixed_window 2/min count_denied}");
  DescriptorChecker checker(checker_, {});
  DescriptorReply reply;
  const std::vector<rule::RequestEntry> entries = {{"user", "ann"}};
  const std::vector<DescriptorAsk> asks = {{.entries = entries}};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Look("a", {{"user", "ann"}})[0].limits[0].decision.remaining,
              Permits{static_cast<std::uint64_t>(2 - i)});
    checker.Check({.domain = "shop", .descriptors = asks}, kNoon, reply);
  }
  EXPECT_FALSE(Look("a", {{"user", "ann"}})[0].limits[0].decision.allowed());
  Reset("a", {{"user", "ann"}});
  EXPECT_EQ(Look("a", {{"user", "ann"}})[0].limits[0].decision.remaining, Permits{2});
  EXPECT_THAT(WhyNot("a", {{"plan", "pro"}}), HasSubstr("do not find rule a"));
}

TEST_F(KeyLookupTest, SaysWhatKeepsAClientFromHavingAKey) {
  Use("- {name: login, by: [ip, user], limit: 1/h}\n- {name: let, allow: true}");
  EXPECT_THAT(WhyNot("logon", {}), HasSubstr("did you mean 'login'?"));
  EXPECT_THAT(WhyNot("login", {{"user", "ann"}}), HasSubstr("counts by ip"));
  EXPECT_THAT(WhyNot("login", {{"ip", "nonsense"}, {"user", "ann"}}), HasSubstr("counts by ip"));
  EXPECT_THAT(WhyNot("let", {}), HasSubstr("allow-list"));
  const KeyLookup elsewhere = LookUpKey(checker_, {"nowhere", "login", {}}, kNoon);
  EXPECT_THAT(std::get<NoSuchKey>(elsewhere).message, HasSubstr("no namespace nowhere"));
}

}  // namespace
}  // namespace weir
