#include "service/cluster.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/check_series.h"
#include "service/key_lookup.h"
#include "tests/cluster_harness.h"

namespace weir {
namespace {

using rule::Attribute;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Attributes = std::vector<Attribute>;

const Attributes kAnn = {{"user", "ann"}};
const Attributes kBob = {{"user", "bob"}};

int AllowedInTurns(ClusterHarness& hosts, std::size_t count, int asked) {
  int allowed = 0;
  for (int i = 0; i < asked; ++i) {
    allowed += hosts.Allows(static_cast<std::size_t>(i) % count, kAnn) ? 1 : 0;
  }
  return allowed;
}

TEST(ClusterTest, HostsEnforceOneLimitTogetherWhateverItsAlgorithm) {
  for (const std::string limit :
       {"10/min", "fixed_window 10/min", "sliding_window 10/min", "sliding_log 10/min",
        "sliding_counters 10/min windows 6", "leaky_bucket 1/min queue 9 free 9"}) {
    ClusterHarness hosts(3, "- {name: a, by: [user], limit: " + limit + ", cluster: strict}");
    EXPECT_EQ(AllowedInTurns(hosts, 3, 30), 10) << limit;
    EXPECT_TRUE(hosts.Allows(2, kBob)) << limit << ": another client";
  }
}

TEST(ClusterTest, EachHostHasItsOwnWhereARuleIsNotShared) {
  ClusterHarness hosts(3, "- {name: a, by: [user], limit: 10/min}");
  EXPECT_EQ(AllowedInTurns(hosts, 3, 60), 30);
}

TEST(ClusterTest, SlowKeysAreExactWithLeasesToo) {
  ClusterHarness hosts(3, "- {name: a, by: [user], limit: 10/min, cluster: lease}");
  EXPECT_EQ(AllowedInTurns(hosts, 3, 30), 10);
}

TEST(ClusterTest, BusyKeysAreDecidedAtHandAndWithinWhatMayBeSoldAhead) {
  ClusterHarness hosts(2, "- {name: a, by: [user], limit: 10000/s burst 1000, cluster: lease}");
  int allowed = 0;
  for (int ms = 0; ms < 3'000; ++ms) {
    for (int i = 0; i < 20; ++i) allowed += hosts.Allows(static_cast<std::size_t>(i) % 2, kAnn);
    hosts.Advance(milliseconds(1));
  }
  EXPECT_LE(allowed, 31'000 + 50) << "what may be sold ahead";
  EXPECT_GE(allowed, 31'000 * 0.99);
  const ClusterCounts counts = hosts[0].cluster.counts();
  EXPECT_LT(counts.asked * 20, counts.at_hand) << "hardly any of them had to be asked for";
}

TEST(ClusterTest, AllLimitsOfARuleAreTakenFromOrNone) {
  ClusterHarness hosts(
      2, "- {name: a, by: [user], limits: [fixed_window 5/min, 3/h], cluster: strict}");
  EXPECT_EQ(AllowedInTurns(hosts, 2, 10), 3);
  hosts.Use("- {name: a, by: [user], limits: [fixed_window 5/min, 30/h], cluster: strict}");
  CheckReply reply;
  hosts.Check(0, kAnn, reply);
  ASSERT_TRUE(reply.allowed());
  EXPECT_EQ(reply.findings()[0].decision.remaining, Permits{1}) << "5, of which 4 were taken";
}

TEST(ClusterTest, WhatTheClusterRefusesIsGivenBackByTheHost) {
  ClusterHarness hosts(1,
                       "- {name: own, by: [user], limit: 10/h}\n"
                       "- {name: leased, by: [user], limit: 10/h, cluster: lease}\n"
                       "- {name: strict, by: [user], limit: 1/h, cluster: strict}");
  EXPECT_TRUE(hosts.Allows(0, kAnn));
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(hosts.Allows(0, kAnn));
  hosts.Use(
      "- {name: own, by: [user], limit: 10/h}\n"
      "- {name: leased, by: [user], limit: 10/h, cluster: lease}");
  int allowed = 0;
  while (hosts.Allows(0, kAnn)) ++allowed;
  EXPECT_EQ(allowed, 9);
}

TEST(ClusterTest, AHostThatRefusesDoesNotAskTheCluster) {
  ClusterHarness hosts(2,
                       "- {name: own, by: [user], limit: 1/h}\n"
                       "- {name: strict, by: [user], limit: 3/h, cluster: strict}");
  EXPECT_TRUE(hosts.Allows(0, kAnn));
  for (int i = 0; i < 5; ++i) EXPECT_FALSE(hosts.Allows(0, kAnn));
  EXPECT_TRUE(hosts.Allows(1, kAnn));
  EXPECT_FALSE(hosts.Allows(1, kAnn));
}

TEST(ClusterTest, WhoWaitsIsToldOnceAndThenFindsItsAnswer) {
  ClusterHarness hosts(1, "- {name: a, by: [user], limit: fixed_window 1/h, cluster: strict}");
  hosts[0].store.is_late = true;
  CheckReply first;
  CheckReply second;
  hosts.Check(0, kAnn, first);
  hosts.Check(0, kAnn, second);
  EXPECT_TRUE(first.is_waiting());
  EXPECT_TRUE(second.is_waiting());
  EXPECT_EQ(hosts[0].told, 0);
  while (first.is_waiting() || second.is_waiting()) {
    ASSERT_NE(hosts[0].store.waiting(), 0U);
    EXPECT_EQ(hosts[0].told, first.is_waiting() ? 0 : 1);
    hosts[0].store.Deliver();
    hosts.Settle();
  }
  EXPECT_EQ(hosts[0].told, 2) << "each of them once";
  hosts.Check(0, kAnn, first);
  hosts.Check(0, kAnn, second);
  EXPECT_TRUE(first.allowed());
  EXPECT_FALSE(second.allowed());
  EXPECT_EQ(hosts[0].told, 2);
}

TEST(ClusterTest, AfterTheDeadlineTheRuleSaysWhatThen) {
  const std::string rules = "- {name: a, by: [user], limit: %1, on_error: %2}";
  struct Case {
    std::string policy;
    int allowed;
  };
  for (const std::string sharing :
       {"2/h, cluster: strict", "fixed_window 2/h, cluster: strict", "2/h, cluster: lease"}) {
    for (const Case& expected : {Case{"allow", 5}, Case{"deny", 0}, Case{"local", 2}}) {
      std::string text = rules;
      text.replace(text.find("%1"), 2, sharing).replace(text.find("%2"), 2, expected.policy);
      ClusterHarness hosts(1, text);
      hosts[0].authority.is_late = hosts[0].store.is_late = true;
      int allowed = 0;
      for (int i = 0; i < 5; ++i) {
        CheckReply reply;
        hosts.Check(0, kAnn, reply);
        for (int ms = 0; ms < 20 && reply.is_waiting(); ++ms) hosts.Advance(milliseconds(1));
        ASSERT_FALSE(reply.is_waiting()) << "nobody waits longer than the deadline";
        hosts.Check(0, kAnn, reply);
        allowed += reply.allowed() ? 1 : 0;
      }
      EXPECT_EQ(allowed, expected.allowed) << sharing << " " << expected.policy;
      hosts.Advance(milliseconds(1));
      EXPECT_TRUE(hosts[0].cluster.counts().is_cut_off);
      EXPECT_GE(hosts[0].cluster.counts().late, 5U) << "and it is counted";
    }
  }
}

TEST(ClusterTest, HostsThatAreCutOffGoOnWithTheirShares) {
  ClusterHarness hosts(2, "- {name: a, by: [user], limit: 100/s, cluster: strict}");
  // Three of four requests come to the first host.
  const auto allowed_in = [&](int ms) {
    int allowed = 0;
    for (int i = 0; i < ms; ++i) {
      for (std::size_t host = 0; host < 2; ++host) {
        if (i % (host == 0 ? 4 : 12) != 0) continue;
        CheckReply reply;
        hosts.Check(host, kAnn, reply);
        for (int wait = 0; wait < 20 && reply.is_waiting(); ++wait) hosts.Advance(milliseconds(1));
        hosts.Check(host, kAnn, reply);
        allowed += reply.allowed() ? 1 : 0;
      }
      hosts.Advance(milliseconds(1));
    }
    return allowed;
  };
  allowed_in(3'000);
  for (std::size_t host = 0; host < 2; ++host) hosts[host].authority.is_dead = true;
  allowed_in(100);  // until the circuits are open
  const Instant begin = hosts.now();
  const int allowed = allowed_in(5'000);
  const double right = std::chrono::duration<double>(hosts.now() - begin).count() * 100;
  EXPECT_LE(allowed, right * 1.15) << "not the whole limit each";
  EXPECT_GE(allowed, right * 0.85);
}

TEST(ClusterTest, WhoGoesWhileItWaitsGetsNothingAndCostsNothingOfALease) {
  ClusterHarness hosts(2, "- {name: a, by: [user], limit: 2/h, cluster: lease}");
  hosts[0].authority.is_late = true;
  {
    CheckReply gone;
    hosts.Check(0, kAnn, gone);
    EXPECT_TRUE(gone.is_waiting());
  }
  hosts[0].authority.is_late = false;
  hosts[0].authority.Deliver();
  for (int ms = 0; ms < 300; ++ms) hosts.Advance(milliseconds(1));
  EXPECT_EQ(AllowedInTurns(hosts, 2, 10), 2);
}

TEST(ClusterTest, WhoGoesBeforeItIsAnsweredGivesNothingBackThatOthersTook) {
  ClusterHarness hosts(2, "- {name: a, by: [user], limit: fixed_window 2/h, cluster: strict}");
  EXPECT_EQ(AllowedInTurns(hosts, 2, 5), 2);
  hosts.Advance(seconds(2));  // a refusal is known for a while
  hosts[0].store.is_late = true;
  {
    CheckReply gone;
    hosts.Check(0, kAnn, gone);
    EXPECT_TRUE(gone.is_waiting());
    hosts[0].checker.GiveBack(gone, hosts.now());
  }
  hosts[0].store.is_late = false;
  hosts[0].store.Deliver();
  hosts.Advance(seconds(2));
  EXPECT_EQ(AllowedInTurns(hosts, 2, 5), 0);
}

TEST(ClusterTest, InShadowTheClusterIsAskedAndNobodyRefused) {
  ClusterHarness hosts(2, "- {name: a, by: [user], limit: 2/h, cluster: strict, mode: shadow}");
  EXPECT_EQ(AllowedInTurns(hosts, 2, 4), 4);
  CheckReply reply;
  hosts.Check(1, kAnn, reply);
  ASSERT_EQ(reply.findings().size(), 1U);
  EXPECT_FALSE(reply.findings()[0].decision.allowed());
  EXPECT_FALSE(reply.findings()[0].enforced);
}

TEST(ClusterTest, ALookTakesNothing) {
  for (const std::string sharing : {"strict", "lease"}) {
    ClusterHarness hosts(1, "- {name: a, by: [user], limit: 2/h, cluster: " + sharing + "}");
    for (int i = 0; i < 5; ++i) {
      CheckReply reply;
      hosts.Check(0, kAnn, reply, CheckRequest::Intent::kLook);
      EXPECT_TRUE(reply.allowed());
    }
    EXPECT_EQ(AllowedInTurns(hosts, 1, 5), 2) << sharing;
    CheckReply reply;
    hosts.Check(0, kAnn, reply, CheckRequest::Intent::kLook);
    EXPECT_FALSE(reply.allowed()) << sharing;
  }
}

TEST(ClusterTest, WhoIsOverASharedLimitThatBansIsBannedWhereItAsked) {
  ClusterHarness hosts(2,
                       "- {name: a, by: [user], limit: 60/min burst 1, cluster: strict, "
                       "exceed: ban 1h}");
  EXPECT_TRUE(hosts.Allows(0, kAnn));
  EXPECT_FALSE(hosts.Allows(0, kAnn));
  hosts.Advance(seconds(10));
  CheckReply reply;
  hosts.Check(0, kAnn, reply);
  EXPECT_FALSE(reply.allowed());
  EXPECT_EQ(reply.decisive()->why, Finding::Why::kBanned);
  EXPECT_TRUE(hosts.Allows(1, kAnn)) << "each host bans those whom it has seen";
}

TEST(ClusterTest, WhatTurnsOutToCostMoreOrLessIsToldToTheCluster) {
  for (const std::string limit :
       {"10/h, cluster: strict", "fixed_window 10/h, cluster: strict", "10/h, cluster: lease"}) {
    ClusterHarness hosts(2, "- {name: a, by: [user], limit: " + limit + "}");
    const CheckRequest request{.space = "shop", .attributes = kAnn};
    const auto correct = [&](Checker::Correction correction, std::uint64_t cost) {
      hosts[0].checker.Correct(request, correction, Permits{cost}, hosts.now(), &hosts[0].cluster);
      for (int ms = 0; ms < 200; ++ms) hosts.Advance(milliseconds(1));
    };
    EXPECT_TRUE(hosts.Allows(0, kAnn));
    correct(Checker::Correction::kCharge, 7);
    EXPECT_EQ(AllowedInTurns(hosts, 2, 10), 2) << limit;
    correct(Checker::Correction::kRefund, 3);
    hosts.Advance(seconds(1));  // a refusal is known for a while
    EXPECT_EQ(AllowedInTurns(hosts, 2, 10), 3) << limit;
    correct(Checker::Correction::kCharge, 20);
    EXPECT_FALSE(hosts.Allows(1, kAnn)) << limit;
  }
}

TEST(ClusterTest, WhoLooksAKeyUpIsToldWhereItLies) {
  ClusterHarness hosts(1, "- {name: a, by: [user], limit: 10/h, cluster: strict}");
  const KeyLookup found = LookUpKey(hosts[0].checker, {"shop", "a", kAnn}, hosts.now());
  ASSERT_TRUE(std::holds_alternative<NoSuchKey>(found));
  EXPECT_THAT(std::get<NoSuchKey>(found).message, testing::HasSubstr("weir:*{shop/a:*"));
}

TEST(ClusterTest, RulesThatShareNeedACluster) {
  Checker checker(std::move(Ledger::Open({.max_keys = 100})).value(), {});
  rule::Problems problems;
  const auto set = rule::ReadRules(
      "namespace: shop\nrules:\n- {name: a, limit: 1/s, cluster: lease}", "test.yaml", problems);
  const rule::Problems refused = checker.Publish({*set}, "test");
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_THAT(refused[0].ToString(), testing::HasSubstr("--redis"));
}

// Whether so much can be taken at once, by a host that knows nothing of the key.
bool IsThere(ClusterHarness& hosts, std::size_t host, Permits permits) {
  ClusterHarness::Host& at = hosts[host];
  CheckReply reply;
  reply.Join(at.cluster, at);
  const CheckRequest request{.space = "shop", .attributes = kAnn, .cost = permits};
  at.checker.Check(request, hosts.now(), reply);
  hosts.Settle();
  at.checker.Check(request, hosts.now(), reply);
  return reply.allowed();
}

TEST(ClusterTest, AHostThatLeavesTellsWhatItOwes) {
  const std::string rule = "- {name: a, by: [user], limit: 1000/s, cluster: ";
  for (const bool leaves : {false, true}) {
    ClusterHarness hosts(2, rule + "write_back}");
    for (int i = 0; i < 10; ++i) EXPECT_TRUE(hosts.Allows(0, kAnn));
    bool has_left = false;
    if (leaves) hosts[0].cluster.Leave([&] { has_left = true; });
    hosts.Settle();
    EXPECT_EQ(has_left, leaves);
    hosts.Use(rule + "strict}");
    EXPECT_EQ(IsThere(hosts, 1, Permits{991}), !leaves) << "some were told before";
    EXPECT_EQ(IsThere(hosts, 1, Permits{990}), leaves) << "taken already if not";
  }
}

TEST(ClusterTest, AHostThatLeavesGivesBackWhatItHolds) {
  for (const bool leaves : {false, true}) {
    ClusterHarness hosts(2, "- {name: a, by: [user], limit: 10000/s burst 1000, cluster: lease}");
    for (int ms = 0; ms < 500; ++ms) {
      for (int i = 0; i < 5; ++i) EXPECT_TRUE(hosts.Allows(0, kAnn));
      hosts.Advance(milliseconds(1));
    }
    bool has_left = false;
    if (leaves) hosts[0].cluster.Leave([&] { has_left = true; });
    hosts.Settle();
    EXPECT_EQ(has_left, leaves);
    // What it spent lately is used, and flows back from now on.
    EXPECT_EQ(IsThere(hosts, 1, Permits{900}), leaves);
  }
}

TEST(ClusterTest, AHostThatLeavesWaitsForTheAnswer) {
  ClusterHarness hosts(1, "- {name: a, by: [user], limit: 1000/s, cluster: write_back}");
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(hosts.Allows(0, kAnn));
  hosts[0].authority.is_late = true;
  bool has_left = false;
  hosts[0].cluster.Leave([&] { has_left = true; });
  hosts.Settle();
  EXPECT_FALSE(has_left);
  hosts[0].authority.Deliver();
  hosts.Settle();
  EXPECT_TRUE(has_left);
}

TEST(ClusterTest, AHostThatIsCutOffLeavesAllTheSame) {
  ClusterHarness hosts(1, "- {name: a, by: [user], limit: 1000/s, cluster: write_back}");
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(hosts.Allows(0, kAnn));
  hosts[0].authority.is_dead = true;
  // So many are asked for and not answered that the circuit opens.
  for (int ms = 0; ms < 200; ++ms) {
    CheckReply reply;
    hosts.Check(0, kAnn, reply);
    hosts.Advance(milliseconds(10));
  }
  EXPECT_TRUE(hosts[0].cluster.counts().is_cut_off);
  bool has_left = false;
  hosts[0].cluster.Leave([&] { has_left = true; });
  hosts.Settle();
  EXPECT_TRUE(has_left);
}

TEST(ClusterTest, AHostThatOwesNothingLeavesAtOnce) {
  ClusterHarness hosts(1, "- {name: a, by: [user], limit: 10/h, cluster: strict}");
  EXPECT_TRUE(hosts.Allows(0, kAnn));
  bool has_left = false;
  hosts[0].cluster.Leave([&] { has_left = true; });
  hosts.Settle();
  EXPECT_TRUE(has_left);
}

TEST(ClusterTest, ARuleInShadowIsAskedWithTheValuesOfTheCallThatGoesOn) {
  ClusterHarness hosts(1,
                       "- {name: a, by: [user], limit: fixed_window 5/h, cluster: strict}\n"
                       "- {name: b, by: [user], limit: fixed_window 3/h, cluster: strict, "
                       "mode: shadow}\n"
                       "- {name: c, by: [user], limit: 2/h, cluster: strict, mode: shadow}");
  int refused_in_shadow = 0;
  for (int i = 0; i < 5; ++i) {
    CheckReply reply;
    // Each call has its values in another place, and those of the one before are gone.
    for (int call = 0; call < 4; ++call) {
      const auto user = std::make_unique<std::string>("somebody with a name of some length");
      hosts.Check(0, {{"user", *user}}, reply);
      hosts.Settle();
    }
    ASSERT_FALSE(reply.is_waiting());
    EXPECT_TRUE(reply.allowed());
    for (const Finding& finding : reply.findings()) {
      if (!finding.enforced && !finding.decision.allowed()) ++refused_in_shadow;
    }
  }
  EXPECT_EQ(refused_in_shadow, 2 + 3);
}

TEST(ClusterTest, NobodyIsBannedBecauseNobodyAnswers) {
  for (const std::string limit : {"100/h", "fixed_window 100/h"}) {
    ClusterHarness hosts(1, "- {name: a, by: [user], limit: " + limit +
                                ", cluster: strict, exceed: ban 1h, on_error: deny}");
    EXPECT_TRUE(hosts.Allows(0, kAnn));
    hosts[0].authority.is_late = hosts[0].store.is_late = true;
    int refused = 0;
    for (int i = 0; i < 20; ++i) {
      CheckReply reply;
      hosts.Check(0, kAnn, reply);
      hosts.Advance(milliseconds(11));
      hosts.Check(0, kAnn, reply);
      refused += !reply.is_waiting() && !reply.allowed() ? 1 : 0;
    }
    EXPECT_EQ(refused, 20) << limit;
    hosts[0].authority.is_late = hosts[0].store.is_late = false;
    hosts[0].authority.Deliver();
    hosts[0].store.Deliver();
    hosts.Advance(seconds(2));
    EXPECT_TRUE(hosts.Allows(0, kAnn)) << limit;
  }
}

TEST(ClusterTest, WhoGoesHasWhatWasTakenForItGivenBackByTheHostToo) {
  ClusterHarness hosts(1,
                       "- {name: own, by: [user], limit: fixed_window 2/h}\n"
                       "- {name: a, by: [user], limit: fixed_window 9/h, cluster: strict}");
  hosts[0].store.is_late = true;
  CheckSeries series({&hosts[0].cluster, &hosts[0]});
  for (int i = 0; i < 2; ++i) {
    hosts.Check(0, kAnn, series.Next());
  }
  EXPECT_TRUE(series.IsWaiting());
  series.Abandon(hosts[0].checker, hosts.now());
  hosts[0].store.is_late = false;
  hosts[0].store.Deliver();
  hosts.Settle();
  EXPECT_EQ(AllowedInTurns(hosts, 1, 5), 2);
}

TEST(ClusterTest, WhoeverRunsItIsToldWhenNobodyAnswersAndWhenSomebodyDoesAgain) {
  ClusterHarness hosts(1, "- {name: a, by: [user], limit: fixed_window 5/h, cluster: strict}");
  EXPECT_TRUE(hosts[0].cut_off.empty());
  hosts[0].store.is_late = true;
  for (int i = 0; i < 20; ++i) {
    CheckReply reply;
    hosts.Check(0, kAnn, reply);
    hosts.Advance(milliseconds(11));
  }
  EXPECT_THAT(hosts[0].cut_off, testing::ElementsAre(true));
  hosts[0].store.is_late = false;
  hosts[0].store.Deliver();
  for (int i = 0; i < 50; ++i) {
    CheckReply reply;
    hosts.Check(0, kAnn, reply);
    hosts.Advance(milliseconds(100));
  }
  EXPECT_THAT(hosts[0].cut_off, testing::ElementsAre(true, false));
}

TEST(ClusterTest, KeysAreForgottenToMakeRoomAndTheLimitHoldsAllTheSame) {
  ClusterHarness hosts(1, "- {name: a, by: [user], limit: 1/h, cluster: lease}");
  Cluster small(hosts.loop(), hosts[0].authority, hosts[0].store, {.max_keys = 10});
  const auto allows = [&](int user) {
    const std::string name = "user" + std::to_string(user);
    const Attributes attributes = {{"user", name}};
    const CheckRequest request{.space = "shop", .attributes = attributes};
    CheckReply reply;
    reply.Join(small, hosts[0]);
    hosts[0].checker.Check(request, hosts.now(), reply);
    hosts.Settle();
    hosts[0].checker.Check(request, hosts.now(), reply);
    return reply.allowed();
  };
  for (int user = 0; user < 100; ++user) EXPECT_TRUE(allows(user));
  for (int user = 0; user < 100; ++user) EXPECT_FALSE(allows(user)) << user;
  EXPECT_LE(small.counts().keys, 10U);
}

}  // namespace
}  // namespace weir
