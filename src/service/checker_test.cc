#include "service/checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rule/rule_file.h"

namespace weir {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::IsEmpty;
using testing::SizeIs;

// Noon on a day in 2026.
constexpr Instant kNoon{seconds(1'780'315'200)};

class CheckerTest : public testing::Test {
 protected:
  explicit CheckerTest(CheckerOptions options = {})
      : checker_(std::move(Ledger::Open({.max_keys = 10'000})).value(), std::move(options)) {}

  // The rules of the namespace `shop`, as YAML.
  void Use(const std::string& rules) {
    rule::Problems problems;
    const auto set = rule::ReadRules("namespace: shop\nrules:\n" + rules, "test.yaml", problems);
    for (const auto& problem : problems) ADD_FAILURE() << problem.ToString();
    ASSERT_TRUE(set.has_value());
    EXPECT_THAT(checker_.Publish({*set}, "test"), IsEmpty());
  }
  const CheckReply& Check(const std::vector<rule::Attribute>& attributes, Instant now = kNoon) {
    checker_.Check({"shop", attributes}, now, reply_);
    return reply_;
  }
  bool Allows(const std::vector<rule::Attribute>& attributes, Instant now = kNoon) {
    return Check(attributes, now).allowed();
  }

  Checker checker_;
  CheckReply reply_;
};

TEST_F(CheckerTest, EachKeyOfARuleIsCountedByItself) {
  Use("- {name: a, by: [user], limit: 2/min}");
  EXPECT_TRUE(Allows({{"user", "ann"}}));
  EXPECT_TRUE(Allows({{"user", "ann"}}));
  EXPECT_FALSE(Allows({{"user", "ann"}}));
  EXPECT_TRUE(Allows({{"user", "bob"}}));
  EXPECT_TRUE(Allows({{"user", "ann"}}, kNoon + seconds(30)));
}

TEST_F(CheckerTest, AnOverrideEndsByItself) {
  Use("- {name: a, by: [user], limit: 1/h, overrides: [\n"
      "   {when: {user: ann}, limit: 3/h, until: '2026-06-01T13:00:00Z'},\n"
      "   {when: {user: ann}, limit: 2/h, until: '2026-06-01T18:00:00Z'}]}");
  const auto passed = [&](Instant now) {
    int count = 0;
    while (Allows({{"user", "ann"}}, now)) ++count;
    return count;
  };
  EXPECT_EQ(passed(kNoon), 3);
  EXPECT_EQ(passed(kNoon + hours(1) - std::chrono::nanoseconds(1)), 2) << "to its last moment";
  EXPECT_EQ(passed(kNoon + hours(4)), 2) << "then the next that matches counts";
  EXPECT_EQ(passed(kNoon + hours(8)), 1) << "and then the rule's own limit";
}

TEST_F(CheckerTest, ARequestThatNoRuleMatchesPassesAndCountsNowhere) {
  Use("- {name: a, match: {path: /login}, by: [user], limit: 1/min}");
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Allows({{"user", "ann"}, {"path", "/"}}));
  EXPECT_TRUE(Allows({{"user", "ann"}, {"path", "/login"}}));
  EXPECT_FALSE(Allows({{"user", "ann"}, {"path", "/login"}}));
}

TEST_F(CheckerTest, WithoutByAllRequestsShareOneKey) {
  Use("- {name: a, limit: 2/min}");
  EXPECT_TRUE(Allows({{"user", "ann"}}));
  EXPECT_TRUE(Allows({{"user", "bob"}}));
  EXPECT_FALSE(Allows({}));
}

TEST_F(CheckerTest, ARequestWithoutAnAttributeOfTheKeyIsNotLimitedByTheRule) {
  Use("- {name: a, by: [user], limit: 1/min}");
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Allows({{"path", "/"}}));
}

TEST_F(CheckerTest, JoinedAttributesAreOneKeyAndListsAreSeveral) {
  Use("- {name: joined, match: {path: /j}, by: [ip, user], limit: 1/min}\n"
      "- {name: each, match: {path: /e}, by: [[ip], [user]], limit: 1/min}");
  EXPECT_TRUE(Allows({{"path", "/j"}, {"ip", "10.0.0.1"}, {"user", "ann"}}));
  EXPECT_TRUE(Allows({{"path", "/j"}, {"ip", "10.0.0.1"}, {"user", "bob"}}));
  EXPECT_FALSE(Allows({{"path", "/j"}, {"ip", "10.0.0.1"}, {"user", "ann"}}));
  EXPECT_TRUE(Allows({{"path", "/e"}, {"ip", "10.0.0.1"}, {"user", "ann"}}));
  EXPECT_FALSE(Allows({{"path", "/e"}, {"ip", "10.0.0.1"}, {"user", "bob"}}));
  EXPECT_FALSE(Allows({{"path", "/e"}, {"ip", "10.0.0.2"}, {"user", "ann"}}));
  // Nothing was charged by the refusals.
  EXPECT_TRUE(Allows({{"path", "/e"}, {"ip", "10.0.0.2"}, {"user", "bob"}}));
}

TEST_F(CheckerTest, ValuesThatRunTogetherAreStillTwoKeys) {
  Use("- {name: a, by: [user, path], limit: 1/min}");
  EXPECT_TRUE(Allows({{"user", "ab"}, {"path", "c"}}));
  EXPECT_TRUE(Allows({{"user", "a"}, {"path", "bc"}}));
  EXPECT_FALSE(Allows({{"user", "ab"}, {"path", "c"}}));
}

TEST_F(CheckerTest, OneHostOfIPv6IsOneClientAndTiersCountWiderNetworks) {
  Use("- {name: a, by: [ip], limit: 2/min, tiers: [{v6: 48, limit: 3/min}]}");
  EXPECT_TRUE(Allows({{"ip", "2001:db8:0:1::1"}}));
  EXPECT_TRUE(Allows({{"ip", "2001:db8:0:1::2"}}));
  EXPECT_FALSE(Allows({{"ip", "2001:db8:0:1:ffff::3"}}));
  EXPECT_TRUE(Allows({{"ip", "2001:db8:0:2::1"}}));
  EXPECT_FALSE(Allows({{"ip", "2001:db8:0:3::1"}}));  // the /48 has used its three
  EXPECT_TRUE(Allows({{"ip", "2001:db8:1:1::1"}}));
}

TEST_F(CheckerTest, AllRulesThatMatchMustAgreeAndNothingIsChargedIfOneRefuses) {
  Use("- {name: user, by: [user], limit: 3/min}\n"
      "- {name: path, by: [path], limit: 1/min}");
  EXPECT_TRUE(Allows({{"user", "ann"}, {"path", "/a"}}));
  const CheckReply& refused = Check({{"user", "ann"}, {"path", "/a"}});
  EXPECT_FALSE(refused.allowed());
  EXPECT_EQ(refused.decisive()->rule->rule->name, "path");
  EXPECT_EQ(refused.findings()[0].decision.remaining.count, 2U);
  EXPECT_TRUE(Allows({{"user", "ann"}, {"path", "/b"}}));
  EXPECT_TRUE(Allows({{"user", "ann"}, {"path", "/c"}}));
  EXPECT_FALSE(Allows({{"user", "ann"}, {"path", "/d"}}));
}

TEST_F(CheckerTest, SeveralLimitsOfARuleAreAllOrNothingAndTheReplyNamesTheOneThatRefused) {
  Use("- {name: a, by: [user], limits: [2/s, fixed_window 3/h]}");
  EXPECT_TRUE(Allows({{"user", "ann"}}));
  EXPECT_TRUE(Allows({{"user", "ann"}}));
  EXPECT_EQ(Check({{"user", "ann"}}).decisive()->limit->ToString(), "token_bucket 2/1s");
  EXPECT_TRUE(Allows({{"user", "ann"}}, kNoon + seconds(1)));
  const CheckReply& refused = Check({{"user", "ann"}}, kNoon + seconds(2));
  EXPECT_FALSE(refused.allowed());
  EXPECT_EQ(refused.decisive()->limit->ToString(), "fixed_window 3/1h");
  EXPECT_EQ(refused.decisive()->decision.retry_after, hours(1) - seconds(2));
}

TEST_F(CheckerTest, TheCostIsWhatTheRequestSaysOrTheDefault) {
  Use("- {name: a, by: [user], limit: 10/min, cost: {header: x-cost, default: 3}}");
  EXPECT_TRUE(Allows({{"user", "ann"}, {"header.x-cost", "6"}}));
  EXPECT_TRUE(Allows({{"user", "ann"}, {"header.x-cost", "nonsense"}}));  // 3
  EXPECT_FALSE(Allows({{"user", "ann"}}));                                // 3, and 1 is left
  EXPECT_TRUE(Allows({{"user", "ann"}, {"header.x-cost", "0"}}));         // nothing is free
  EXPECT_FALSE(Allows({{"user", "ann"}, {"header.x-cost", "-1"}}));
}

TEST_F(CheckerTest, AnAllowListPassesEverythingAndCountsNothing) {
  Use("- {name: office, match: {ip: 10.0.0.0/8}, allow: true}\n"
      "- {name: a, limit: 1/min}");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Check({{"ip", "10.1.2.3"}}).allowed_by()->rule->name, "office");
  }
  EXPECT_TRUE(Allows({{"ip", "11.1.2.3"}}));
  EXPECT_FALSE(Allows({{"ip", "11.1.2.3"}}));
}

TEST_F(CheckerTest, ABlockedRuleRefusesForEver) {
  Use("- {name: a, match: {user: mallory}, limit: blocked}");
  const CheckReply& refused = Check({{"user", "mallory"}});
  EXPECT_FALSE(refused.allowed());
  EXPECT_EQ(refused.decisive()->why, Finding::Why::kBlocked);
  EXPECT_EQ(refused.decisive()->decision.verdict, Verdict::kNever);
  EXPECT_TRUE(Allows({{"user", "ann"}}));
}

TEST_F(CheckerTest, AnOverrideTakesThePlaceOfTheLimitAndOfTheTiers) {
  Use("- {name: a, by: [user], limit: 1/min, overrides: [{when: {user: acme}, limit: 3/min}, "
      "{when: {user: root}, limit: unlimited}]}");
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Allows({{"user", "acme"}})) << i;
  EXPECT_FALSE(Allows({{"user", "acme"}}));
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(Allows({{"user", "root"}})) << i;
  EXPECT_TRUE(Allows({{"user", "ann"}}));
  EXPECT_FALSE(Allows({{"user", "ann"}}));
}

TEST_F(CheckerTest, AnOverrideByWhatIsNotInTheKeyCountsByItself) {
  Use("- {name: a, by: [user], limit: 100/h, "
      "overrides: [{when: {path: /health}, limit: 100/s}]}");
  int passed = 0;
  for (int i = 0; i < 1000; ++i) {
    const Instant now = kNoon + std::chrono::milliseconds(10 * i);
    EXPECT_TRUE(Allows({{"user", "ann"}, {"path", "/health"}}, now));
    passed += Allows({{"user", "ann"}, {"path", "/"}}, now) ? 1 : 0;
  }
  EXPECT_EQ(passed, 100);
}

TEST_F(CheckerTest, AnOverrideByTheKeyTakesOverWhatWasCounted) {
  Use("- {name: a, by: [user], limit: 5/h}");
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(Allows({{"user", "acme"}}));
  Use("- {name: a, by: [user], limit: 5/h, overrides: [{when: {user: acme}, limit: 7/h}]}");
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(Allows({{"user", "acme"}}));
  EXPECT_FALSE(Allows({{"user", "acme"}}));
}

TEST_F(CheckerTest, LimitsThatChangePlacesLockNobodyOut) {
  Use("- {name: a, by: [user], limits: [5000/h, 10/s]}");
  for (int i = 0; i < 3000; ++i)
    Allows({{"user", "ann"}}, kNoon + std::chrono::milliseconds(i * 100));
  Use("- {name: a, by: [user], limits: [10/s, 5000/h]}");
  const Instant later = kNoon + seconds(300);
  Allows({{"user", "ann"}}, later);
  EXPECT_TRUE(Allows({{"user", "ann"}}, later + seconds(1)));
}

TEST_F(CheckerTest, KeysOfManyLongValuesAreToldApart) {
  std::string by;
  std::vector<std::string> names;
  for (int i = 0; i < 12; ++i) names.push_back("a" + std::to_string(i));
  for (const std::string& name : names) by += name + ", ";
  Use("- {name: a, by: [" + by + "ip], limit: 1/min}");
  for (std::size_t length = 0; length < 200; ++length) {
    const std::string value(length, 'x');
    std::vector<rule::Attribute> attributes = {{"ip", "2001:db8::1"}};
    for (const std::string& name : names) attributes.push_back({name, value});
    EXPECT_TRUE(Allows(attributes)) << length;
    EXPECT_FALSE(Allows(attributes)) << length;
  }
}

TEST_F(CheckerTest, ARefusalTellsWhatTheOtherRulesHaveLeft) {
  Use("- {name: a, limit: 7/min}\n- {name: b, limit: blocked}\n- {name: s, limit: 3/h, mode: "
      "shadow}");
  const CheckReply& reply = Check({});
  EXPECT_EQ(reply.findings()[0].decision.remaining.count, 7U);
  EXPECT_EQ(reply.findings()[2].decision.remaining.count, 3U);
}

TEST_F(CheckerTest, FailuresOfWhoIsAllowListedAreNotCounted) {
  Use("- {name: office, match: {ip: 10.0.0.0/8}, allow: true}\n"
      "- {name: a, by: [user], limit: 1/h, count: failures}");
  checker_.Report({"shop", std::vector<rule::Attribute>{{"user", "ann"}, {"ip", "10.1.1.1"}}},
                  Checker::Outcome::kFailed, kNoon);
  EXPECT_TRUE(Allows({{"user", "ann"}, {"ip", "11.1.1.1"}}));
}

TEST_F(CheckerTest, ARuleMayExpireInAFarFuture) {
  Use("- {name: a, limit: blocked, expires: 9999-12-31}");
  EXPECT_FALSE(Allows({}));
}

TEST_F(CheckerTest, ShadowCountsAndTellsAndRefusesNobody) {
  Use("- {name: s, by: [user], limit: 1/min, mode: shadow}\n"
      "- {name: e, by: [user], limit: 3/min}");
  EXPECT_TRUE(Check({{"user", "ann"}}).findings()[0].decision.allowed());
  const CheckReply& reply = Check({{"user", "ann"}});
  EXPECT_TRUE(reply.allowed());
  EXPECT_FALSE(reply.findings()[0].decision.allowed());
  EXPECT_FALSE(reply.findings()[0].enforced);
  EXPECT_EQ(reply.decisive()->rule->rule->name, "e");
  EXPECT_EQ(reply.decisive()->decision.remaining.count, 1U);
}

TEST_F(CheckerTest, ARuleThatIsOffOrHasExpiredIsNotThere) {
  Use("- {name: a, limit: blocked, mode: 'off'}\n"
      "- {name: b, limit: 1/min, expires: 2026-06-01T12:00:01Z}");
  EXPECT_TRUE(Allows({}));
  EXPECT_FALSE(Allows({}));
  EXPECT_THAT(Check({}, kNoon + seconds(1)).findings(), IsEmpty());
}

TEST_F(CheckerTest, APercentageOfTheKeysIsEnforcedAlwaysTheSame) {
  Use("- {name: a, by: [user], limit: blocked, enforce: 25%}");
  std::vector<std::string> refused;
  for (int round = 0; round < 2; ++round) {
    std::vector<std::string> now_refused;
    for (int i = 0; i < 1000; ++i) {
      const std::string user = std::to_string(i);
      if (!Allows({{"user", user}})) now_refused.push_back(user);
    }
    if (round == 1) {
      EXPECT_EQ(now_refused, refused);
    }
    refused = now_refused;
  }
  EXPECT_GT(refused.size(), 180U);
  EXPECT_LT(refused.size(), 320U);
}

TEST_F(CheckerTest, ABanLastsItsTimeWhateverIsAsked) {
  Use("- {name: a, match: {path: /login}, by: [ip], limit: 2/s, exceed: ban 10m}");
  const std::vector<rule::Attribute> login = {{"path", "/login"}, {"ip", "10.0.0.1"}};
  EXPECT_TRUE(Allows(login));
  EXPECT_TRUE(Allows(login));
  EXPECT_EQ(Check(login).decisive()->decision.retry_after, minutes(10));
  const CheckReply& banned = Check(login, kNoon + minutes(9));
  EXPECT_FALSE(banned.allowed());
  EXPECT_EQ(banned.decisive()->why, Finding::Why::kBanned);
  EXPECT_EQ(banned.decisive()->decision.retry_after, minutes(1));
  EXPECT_TRUE(Allows({{"path", "/login"}, {"ip", "10.0.0.2"}}, kNoon + minutes(9)));
  EXPECT_FALSE(Allows(login, kNoon + minutes(10) - Nanos(1)));
  EXPECT_TRUE(Allows(login, kNoon + minutes(10)));
}

TEST_F(CheckerTest, ADelayTellsHowLongUpToItsBound) {
  Use("- {name: a, limit: 1/s, exceed: delay 2s}");
  EXPECT_EQ(Check({}).wait(), Nanos(0));
  EXPECT_EQ(Check({}).wait(), seconds(1));
  EXPECT_EQ(Check({}).wait(), seconds(2));
  EXPECT_FALSE(Allows({}));
  EXPECT_EQ(Check({}, kNoon + seconds(1)).wait(), seconds(2));
}

TEST_F(CheckerTest, WhoDoesNotWaitForItsTurnGivesItBackOnce) {
  Use("- {name: a, limit: 1/s, exceed: delay 2s}\n- {name: s, limit: 1/s, mode: shadow}");
  EXPECT_EQ(Check({}).wait(), Nanos(0));
  EXPECT_EQ(Check({}).wait(), seconds(1));
  checker_.GiveBack(reply_, kNoon);
  checker_.GiveBack(reply_, kNoon);
  EXPECT_EQ(Check({}).wait(), seconds(1));
  EXPECT_EQ(Check({}).wait(), seconds(2));
}

TEST_F(CheckerTest, CountingFailuresMakesAskingFree) {
  Use("- {name: a, by: [user], limit: 2/min, count: failures}");
  const std::vector<rule::Attribute> ann = {{"user", "ann"}};
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(Allows(ann));
  checker_.Report({"shop", ann}, Checker::Outcome::kSucceeded, kNoon);
  checker_.Report({"shop", ann}, Checker::Outcome::kFailed, kNoon);
  EXPECT_TRUE(Allows(ann));
  checker_.Report({"shop", ann}, Checker::Outcome::kFailed, kNoon);
  EXPECT_FALSE(Allows(ann));
  EXPECT_TRUE(Allows(ann, kNoon + seconds(30)));
  EXPECT_TRUE(Allows({{"user", "bob"}}));
}

TEST_F(CheckerTest, WhatWasTakenCanBeCorrectedAfterwards) {
  Use("- {name: a, by: [user], limit: 10/h}");
  const std::vector<rule::Attribute> ann = {{"user", "ann"}};
  EXPECT_TRUE(Allows(ann));
  checker_.Correct({"shop", ann}, Checker::Correction::kCharge, Permits{7}, kNoon);
  EXPECT_EQ(Check(ann).decisive()->decision.remaining.count, 1U);
  checker_.Correct({"shop", ann}, Checker::Correction::kRefund, Permits{4}, kNoon);
  EXPECT_EQ(Check(ann).decisive()->decision.remaining.count, 4U);
  checker_.Correct({"shop", ann}, Checker::Correction::kCharge, Permits{100}, kNoon);
  EXPECT_FALSE(Allows(ann, kNoon + hours(9)));  // a debt is paid first
}

TEST_F(CheckerTest, ASoftLimitLetsAPercentageMoreThroughAndMarksIt) {
  Use("- {name: a, limit: fixed_window 10/h, soft: 20%}");
  for (int i = 0; i < 10; ++i) EXPECT_EQ(Check({}).decisive()->decision.grace, Grace::kNone) << i;
  for (int i = 0; i < 2; ++i) EXPECT_EQ(Check({}).decisive()->decision.grace, Grace::kSoft) << i;
  EXPECT_FALSE(Allows({}));
}

TEST_F(CheckerTest, CountersSurviveAChangeOfRules) {
  Use("- {name: a, by: [user], limit: 3/h}\n- {name: other, limit: 100/s}");
  EXPECT_TRUE(Allows({{"user", "ann"}}));
  EXPECT_TRUE(Allows({{"user", "ann"}}));
  Use("- {name: new, limit: 1000/s}\n- {name: a, by: [user], limit: 4/h}");
  EXPECT_TRUE(Allows({{"user", "ann"}}));
  EXPECT_TRUE(Allows({{"user", "ann"}}));
  EXPECT_FALSE(Allows({{"user", "ann"}}));
  // A limit more beside it, and another algorithm.
  Use("- {name: a, by: [user], limits: [sliding_log 5/h, 100/s]}");
  EXPECT_TRUE(Allows({{"user", "ann"}}));
  EXPECT_FALSE(Allows({{"user", "ann"}}));
}

TEST_F(CheckerTest, WhoHasOpenedTheRulesIsDecidedByThemThoughTheyAreReplaced) {
  Use("- {name: a, by: [user], limit: 1/min}");
  const rule::Space* space = checker_.Open("shop", reply_);
  ASSERT_NE(space, nullptr);
  rule::Values values(space->schema());
  values.Set(space->schema().Find("user").value(), "ann");
  Use("- {name: b, limit: blocked}");
  checker_.Decide({}, values, kNoon, reply_);
  EXPECT_TRUE(reply_.allowed());
  EXPECT_EQ(reply_.decisive()->rule->rule->name, "a");
  EXPECT_FALSE(Allows({{"user", "ann"}}));
  EXPECT_EQ(checker_.Open("nowhere", reply_), nullptr);
  EXPECT_FALSE(reply_.knows_space());
}

TEST_F(CheckerTest, ANamespaceWithoutRulesLetsEverythingPassAndSaysSo) {
  Use("- {name: a, limit: blocked}");
  checker_.Check({"elsewhere", {}}, kNoon, reply_);
  EXPECT_TRUE(reply_.allowed());
  EXPECT_FALSE(reply_.knows_space());
}

TEST_F(CheckerTest, RulesThatCannotBeCompiledChangeNothing) {
  Use("- {name: a, limit: blocked}");
  const rule::RuleSet set{.space = "shop", .rules = {}};
  const rule::Problems problems = checker_.Publish({set, set}, "twice");
  ASSERT_THAT(problems, SizeIs(1));
  EXPECT_EQ(problems[0].ToString(),
            "shop: the namespace is there twice; put its rules into one file");
  EXPECT_FALSE(Allows({}));
}

class ElasticCheckerTest : public CheckerTest {
 protected:
  ElasticCheckerTest() : CheckerTest({.has_room = [this] { return has_room_; }}) {}
  bool has_room_ = false;
};

TEST_F(ElasticCheckerTest, AnElasticRuleMayBeExceededWhileThereIsRoom) {
  Use("- {name: a, limit: 1/min, elastic: true}");
  EXPECT_TRUE(Allows({}));
  EXPECT_FALSE(Allows({}));
  has_room_ = true;
  EXPECT_TRUE(Allows({}));
  EXPECT_EQ(reply_.decisive()->decision.grace, Grace::kElastic);
  has_room_ = false;
  EXPECT_FALSE(Allows({}));
}

TEST_F(ElasticCheckerTest, WhatIsStretchedStillCountsUnderTheOtherRules) {
  Use("- {name: a, limit: 1/min, elastic: true}\n- {name: b, limit: fixed_window 3/h}");
  has_room_ = true;
  int passed = 0;
  for (int i = 0; i < 10; ++i) passed += Allows({}) ? 1 : 0;
  EXPECT_EQ(passed, 3);
}

TEST_F(ElasticCheckerTest, ARuleThatCountsFailuresMayBeElasticToo) {
  Use("- {name: a, limit: 1/min, elastic: true, count: failures}");
  checker_.Report({"shop", {}}, Checker::Outcome::kFailed, kNoon);
  EXPECT_FALSE(Allows({}));
  has_room_ = true;
  EXPECT_TRUE(Allows({}));
}

TEST_F(ElasticCheckerTest, RoomDoesNotHelpWhereAnotherRuleRefuses) {
  Use("- {name: a, limit: 1/min, elastic: true}\n- {name: b, limit: 1/min}");
  has_room_ = true;
  EXPECT_TRUE(Allows({}));
  EXPECT_FALSE(Allows({}));
}

TEST_F(CheckerTest, ALookSaysWhatWouldBeSaidAndTakesNothing) {
  Use("- {name: a, by: [user], limit: 2/min}\n"
      "- {name: b, by: [user], limit: 1/min, mode: shadow}");
  const std::vector<rule::Attribute> ann = {{"user", "ann"}};
  const auto look = [&] {
    checker_.Check({.space = "shop", .attributes = ann, .intent = CheckRequest::Intent::kLook},
                   kNoon, reply_);
    return reply_.allowed();
  };
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(look());
  EXPECT_EQ(reply_.decisive()->decision.remaining, Permits{2});
  EXPECT_TRUE(Allows(ann));
  EXPECT_TRUE(look());
  EXPECT_EQ(reply_.decisive()->decision.remaining, Permits{1});
  EXPECT_FALSE(reply_.findings()[1].decision.allowed());
  EXPECT_TRUE(Allows(ann));
  EXPECT_FALSE(look());
  EXPECT_EQ(reply_.decisive()->decision.retry_after, seconds(30));
}

TEST_F(CheckerTest, ALookBansNobodyAndSeesWhoIsBanned) {
  Use("- {name: a, by: [user], limit: 1/s, exceed: ban 1h}");
  const std::vector<rule::Attribute> ann = {{"user", "ann"}};
  const auto look = [&](Instant now) {
    checker_.Check({.space = "shop", .attributes = ann, .intent = CheckRequest::Intent::kLook}, now,
                   reply_);
    return reply_.allowed();
  };
  EXPECT_TRUE(Allows(ann));
  EXPECT_FALSE(look(kNoon));
  EXPECT_TRUE(Allows(ann, kNoon + seconds(1)));
  EXPECT_FALSE(Allows(ann, kNoon + seconds(1)));
  EXPECT_FALSE(look(kNoon + minutes(59)));
  EXPECT_EQ(reply_.decisive()->why, Finding::Why::kBanned);
}

}  // namespace
}  // namespace weir
