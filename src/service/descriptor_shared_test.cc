// Checks by descriptors on hosts that share their limits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "service/descriptor_check.h"
#include "tests/cluster_harness.h"

namespace weir {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;

// A descriptor as a test writes it.
struct Asked {
  std::vector<rule::RequestEntry> entries;
  std::optional<std::uint64_t> hits = {};
  HitsAre hits_are = HitsAre::kTaken;
  std::optional<LimitOverride> limit = {};
};

const Asked kAnn = {{{"user", "ann"}}};
const Asked kBob = {{{"user", "bob"}}};

class DescriptorSharedTest : public testing::Test {
 protected:
  void Start(std::size_t hosts, const std::string& rules) {
    reply_.Release();  // those before must outlive it
    hosts_.emplace(hosts, rules);
  }

  // Asks a host, and lets it have its answers if they are not late.
  void Check(std::size_t host, const std::vector<Asked>& asked, DescriptorReply& reply,
             DescriptorOptions options = {}) {
    std::vector<DescriptorAsk> asks;
    for (const Asked& one : asked) {
      asks.push_back({one.entries, one.hits, one.hits_are, one.limit});
    }
    ClusterHarness::Host& at = (*hosts_)[host];
    const DescriptorChecker checker(at.checker, options);
    reply.Join(at.cluster, at);
    // It may have to wait more than once.
    for (int i = 0; i < 5; ++i) {
      checker.Check({"shop", asks, 0}, hosts_->now(), reply);
      hosts_->Settle();
      if (reply.is_waiting()) return;
    }
  }
  const DescriptorReply& Ask(std::size_t host, const std::vector<Asked>& asked,
                             DescriptorOptions options = {}) {
    reply_.Release();
    Check(host, asked, reply_, options);
    EXPECT_FALSE(reply_.is_waiting());
    return reply_;
  }
  DescriptorStatus AskOne(std::size_t host, const Asked& asked) {
    return Ask(host, {asked}).statuses()[0];
  }
  int AllowedInTurns(std::size_t hosts, const Asked& asked, int times) {
    int allowed = 0;
    for (int i = 0; i < times; ++i) {
      allowed += Ask(static_cast<std::size_t>(i) % hosts, {asked}).allowed() ? 1 : 0;
    }
    return allowed;
  }
  void Answer(std::size_t host) {
    while ((*hosts_)[host].store.waiting() != 0) {
      (*hosts_)[host].store.Deliver();
      hosts_->Settle();
    }
  }

  std::optional<ClusterHarness> hosts_;
  DescriptorReply reply_;
};

constexpr const char* kWindow =
    "- {name: a, descriptor: [{key: user}], limit: fixed_window 5/h count_denied, cluster: strict}";

TEST_F(DescriptorSharedTest, HostsCountInOneWindowAndTellWhatIsLeftOfIt) {
  Start(3, kWindow);
  for (std::uint32_t i = 0; i < 5; ++i) {
    const DescriptorStatus status = AskOne(i % 3, kAnn);
    EXPECT_FALSE(status.over);
    EXPECT_EQ(status.remaining, 4 - i);
    EXPECT_EQ(status.limit, (ToldLimit{5, LimitUnit::kHour, ""}));
    EXPECT_EQ(status.until_reset, hours(1));
  }
  hosts_->Advance(minutes(10));
  for (std::size_t host = 0; host < 3; ++host) {
    const DescriptorStatus status = AskOne(host, kAnn);
    EXPECT_TRUE(status.over);
    EXPECT_EQ(status.remaining, 0U);
    EXPECT_EQ(status.until_reset, minutes(50));
    EXPECT_FALSE(reply_.allowed());
  }
  EXPECT_EQ(AskOne(2, kBob).remaining, 4U) << "another client";
  hosts_->Advance(minutes(50));
  EXPECT_FALSE(AskOne(1, kAnn).over) << "another window";
}

TEST_F(DescriptorSharedTest, WindowsOfEveryLengthAreShared) {
  for (const char* length : {"s", "min", "h", "24h", "7d", "30d", "365d", "day", "month"}) {
    Start(2,
          "- {name: a, descriptor: [{key: user}], cluster: strict, "
          "limit: fixed_window 3/" +
              std::string(length) + " count_denied}");
    EXPECT_EQ(AllowedInTurns(2, kAnn, 6), 3) << length;
  }
}

TEST_F(DescriptorSharedTest, EachHostHasItsOwnWhereARuleIsNotShared) {
  Start(2, "- {name: a, descriptor: [{key: user}], limit: fixed_window 2/h count_denied}");
  EXPECT_EQ(AllowedInTurns(2, kAnn, 8), 4);
}

TEST_F(DescriptorSharedTest, WhatIsOverIsCountedTooAndHitsGivenBackTakeFromThatFirst) {
  Start(2, kWindow);
  EXPECT_TRUE(AskOne(0, {kAnn.entries, 8}).over) << "more than the limit can ever hold";
  EXPECT_TRUE(AskOne(1, {kAnn.entries, 1}).over);
  // 9 were counted: giving 4 back leaves the limit used up, and no more than that.
  const DescriptorStatus back = AskOne(0, {kAnn.entries, 4, HitsAre::kGivenBack});
  EXPECT_FALSE(back.over);
  EXPECT_EQ(back.remaining, 0U);
  EXPECT_EQ(AskOne(1, {kAnn.entries, 2, HitsAre::kGivenBack}).remaining, 2U);
  EXPECT_EQ(AskOne(0, {kAnn.entries, 100, HitsAre::kGivenBack}).remaining, 5U);
  EXPECT_EQ(AskOne(1, {kAnn.entries, 1}).remaining, 4U);
}

TEST_F(DescriptorSharedTest, HitsOf0OnlyLook) {
  Start(2, kWindow);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(AskOne(1, {kAnn.entries, 0}).remaining, 5U);
  EXPECT_EQ(AskOne(1, {kAnn.entries, 0}).until_reset, hours(1));
  AskOne(0, {kAnn.entries, 5});
  EXPECT_FALSE(AskOne(1, {kAnn.entries, 0}).over) << "at the limit, not over it";
  AskOne(0, {kAnn.entries, 1});
  EXPECT_TRUE(AskOne(1, {kAnn.entries, 0}).over);
}

TEST_F(DescriptorSharedTest, ALimitThatIsChangedFindsTheSameCount) {
  Start(2, kWindow);
  EXPECT_EQ(AllowedInTurns(2, kAnn, 4), 4);
  hosts_->Use(
      "- {name: a, descriptor: [{key: user}], limit: fixed_window 7/h count_denied, "
      "cluster: strict}");
  EXPECT_EQ(AllowedInTurns(2, kAnn, 6), 3);
}

TEST_F(DescriptorSharedTest, LimitsThatComeWithTheRequestAreShared) {
  Start(3, "- {name: other, descriptor: [{key: other}], limit: 1/h}");
  const auto with = [](std::uint32_t requests, LimitUnit unit) {
    return Asked{kAnn.entries, {}, {}, LimitOverride{requests, unit}};
  };
  EXPECT_EQ(AllowedInTurns(3, with(4, LimitUnit::kHour), 9), 4);
  EXPECT_EQ(AskOne(1, with(20, LimitUnit::kHour)).remaining, 10U) << "only compared";
  EXPECT_EQ(AskOne(1, with(20, LimitUnit::kDay)).remaining, 19U) << "another unit";
  Asked bob = with(20, LimitUnit::kHour);
  bob.entries = {{"user", "bob"}};
  EXPECT_EQ(AskOne(2, bob).remaining, 19U);
  bob.entries = {{"use", "rbob"}};
  EXPECT_EQ(AskOne(2, bob).remaining, 19U) << "keys and values are told apart";
}

TEST_F(DescriptorSharedTest, DescriptorsAreCountedEachByItself) {
  Start(2,
        "- {name: a, descriptor: [{key: user}], limit: fixed_window 2/h count_denied, "
        "cluster: strict}\n"
        "- {name: b, descriptor: [{key: path}], limit: fixed_window 9/h count_denied, "
        "cluster: strict}\n"
        "- {name: own, descriptor: [{key: host}], limit: fixed_window 9/h count_denied}");
  const std::vector<Asked> asked = {kAnn, {{{"path", "/"}}}, {{{"host", "x"}}}, kBob};
  for (std::size_t i = 0; i < 3; ++i) Ask(i % 2, asked);
  const DescriptorReply& reply = Ask(0, asked);
  EXPECT_FALSE(reply.allowed());
  EXPECT_TRUE(reply.statuses()[0].over);
  EXPECT_EQ(reply.statuses()[1].remaining, 5U) << "4 of 9, though they were refused";
  EXPECT_EQ(reply.statuses()[2].remaining, 6U) << "3 at this host";
  EXPECT_TRUE(reply.statuses()[3].over) << "the same rule, another value";
}

TEST_F(DescriptorSharedTest, OtherLimitsAreAllOrNothingAndTheHostGetsBackWhatItGave) {
  Start(2,
        "- {name: own, descriptor: [{key: host}], limit: 9/h}\n"
        "- {name: shared, descriptor: [{key: user}], limit: sliding_log 2/h, cluster: strict}\n"
        "- {name: bucket, descriptor: [{key: path}], limit: 9/h, cluster: strict}");
  const std::vector<Asked> asked = {{{{"host", "x"}}}, kAnn, {{{"path", "/"}}}};
  EXPECT_TRUE(Ask(0, asked).allowed());
  EXPECT_TRUE(Ask(0, asked).allowed());
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(Ask(0, asked).allowed());
  EXPECT_EQ(reply_.statuses()[0].remaining, 7U) << "2 were taken";
  EXPECT_TRUE(reply_.statuses()[1].over);
  EXPECT_EQ(AskOne(0, {{{"host", "x"}}, 7}).remaining, 0U);
  for (int ms = 0; ms < 200; ++ms) hosts_->Advance(milliseconds(1));
  EXPECT_EQ(AskOne(1, {{{"path", "/"}}, 7}).remaining, 0U) << "and so does the cluster";
}

TEST_F(DescriptorSharedTest, TwoValuesOfOneRuleAreTakenTogetherOrNotAtAll) {
  Start(2, "- {name: a, descriptor: [{key: user}], limit: sliding_log 2/h, cluster: strict}");
  EXPECT_TRUE(Ask(0, {kAnn, kBob}).allowed());
  EXPECT_TRUE(Ask(1, {kBob}).allowed());
  EXPECT_FALSE(Ask(0, {kAnn, kBob}).allowed());
  EXPECT_EQ(reply_.statuses()[0].remaining, 1U);
  EXPECT_TRUE(reply_.statuses()[1].over);
  EXPECT_TRUE(Ask(1, {kAnn}).allowed());
  EXPECT_FALSE(Ask(0, {kAnn}).allowed());
}

TEST_F(DescriptorSharedTest, InShadowEachDescriptorIsCountedAndNobodyRefused) {
  Start(2,
        "- {name: a, descriptor: [{key: user}], limit: sliding_log 2/h, cluster: strict, "
        "mode: shadow}\n"
        "- {name: b, descriptor: [{key: path}], limit: fixed_window 1/h count_denied, "
        "cluster: strict, mode: shadow}");
  EXPECT_TRUE(Ask(0, {kAnn, kAnn, {{{"path", "/"}}}}).allowed());
  EXPECT_FALSE(reply_.statuses()[1].over_in_shadow);
  EXPECT_TRUE(Ask(1, {kAnn, kBob, {{{"path", "/"}}}}).allowed());
  EXPECT_TRUE(reply_.statuses()[0].over_in_shadow);
  EXPECT_EQ(reply_.statuses()[1].remaining, 1U) << "though the other one is over";
  EXPECT_TRUE(reply_.statuses()[2].over_in_shadow);
  EXPECT_FALSE(reply_.statuses()[2].over);
}

TEST_F(DescriptorSharedTest, WhoIsRefusedIsToldOfTheOthersAndTakesNothingOfThem) {
  Start(2,
        "- {name: a, descriptor: [{key: user}], limit: fixed_window 1/h count_denied, "
        "cluster: strict}\n"
        "- {name: b, descriptor: [{key: path}], limit: sliding_log 5/h, cluster: strict}\n"
        "- {name: c, descriptor: [{key: host}], limit: 5/h, cluster: lease, mode: shadow}");
  const std::vector<Asked> asked = {kAnn, {{{"path", "/"}}}, {{{"host", "x"}}}};
  EXPECT_TRUE(Ask(0, asked).allowed());
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(Ask(1, asked).allowed());
  EXPECT_EQ(reply_.statuses()[1].remaining, 4U);
  EXPECT_TRUE(reply_.statuses()[2].limit.has_value());
  EXPECT_EQ(AskOne(0, {{{"path", "/"}}}).remaining, 3U);
}

TEST_F(DescriptorSharedTest, QuotasRefuseOnlyTogether) {
  Start(2,
        "- {name: small, descriptor: [{key: a}], limit: fixed_window 1/h count_denied, "
        "cluster: strict, quota_mode: true}\n"
        "- {name: large, descriptor: [{key: b}], limit: sliding_log 2/h, cluster: strict, "
        "quota_mode: true}");
  const std::vector<Asked> asked = {{{{"a", ""}}}, {{{"b", ""}}}};
  EXPECT_TRUE(Ask(0, asked).allowed());
  EXPECT_TRUE(Ask(1, asked).allowed());
  EXPECT_TRUE(reply_.statuses()[0].over);
  EXPECT_FALSE(Ask(0, asked).allowed());
}

TEST_F(DescriptorSharedTest, LeasesAreForDescriptorsToo) {
  Start(2, "- {name: a, descriptor: [{key: user}], limit: 10/min, cluster: lease}");
  EXPECT_EQ(AllowedInTurns(2, kAnn, 30), 10);
  EXPECT_EQ(AllowedInTurns(2, kBob, 5), 5);
  AskOne(1, {kBob.entries, 3, HitsAre::kGivenBack});
  for (int ms = 0; ms < 200; ++ms) hosts_->Advance(milliseconds(1));
  EXPECT_EQ(AllowedInTurns(2, kBob, 30), 8);
}

TEST_F(DescriptorSharedTest, WhoIsOverIsBannedWhereItAsked) {
  Start(2,
        "- {name: a, descriptor: [{key: user}], limit: fixed_window 1/s count_denied, "
        "cluster: strict, exceed: ban 1h}");
  EXPECT_FALSE(AskOne(0, kAnn).over);
  EXPECT_TRUE(AskOne(0, kAnn).over);
  EXPECT_EQ(reply_.statuses()[0].until_reset, hours(1));
  hosts_->Advance(seconds(10));
  EXPECT_TRUE(AskOne(0, kAnn).banned);
  EXPECT_FALSE(AskOne(1, kAnn).over) << "each host bans those whom it has seen";
}

TEST_F(DescriptorSharedTest, ACheckThatWaitsGoesOnWhereItWas) {
  Start(1,
        "- {name: own, descriptor: [{key: host}], limit: fixed_window 9/h count_denied}\n"
        "- {name: bucket, descriptor: [{key: port}], limit: 9/h}\n"
        "- {name: a, descriptor: [{key: user}], limit: fixed_window 9/h count_denied, "
        "cluster: strict}\n"
        "- {name: log, descriptor: [{key: path}], limit: sliding_log 9/h, cluster: strict}\n"
        "- {name: shadow, descriptor: [{key: ip}], limit: sliding_log 9/h, cluster: strict, "
        "mode: shadow}");
  const std::vector<Asked> asked = {
      {{{"host", "x"}}}, {{{"port", "1"}}}, kAnn, {{{"path", "/"}}}, {{{"ip", "1"}}}};
  hosts_->operator[](0).store.is_late = true;
  DescriptorReply reply;
  int waits = 0;
  for (Check(0, asked, reply); reply.is_waiting(); Check(0, asked, reply)) {
    ASSERT_LT(++waits, 20);
    Check(0, asked, reply);  // woken too early
    (*hosts_)[0].store.Deliver();
    hosts_->Settle();
  }
  EXPECT_GE(waits, 3) << "for each kind";
  EXPECT_TRUE(reply.allowed());
  std::vector<std::uint32_t> remaining;
  for (const DescriptorStatus& status : reply.statuses()) remaining.push_back(status.remaining);
  EXPECT_THAT(remaining, ElementsAre(8, 8, 8, 8, 8)) << "each was counted once";
  Check(0, asked, reply);
  EXPECT_EQ(reply.statuses()[0].remaining, 8U) << "until it is released";
}

TEST_F(DescriptorSharedTest, WhatIsAskedAfterAWaitIsAskedUnderItsOwnName) {
  Start(2,
        "- {name: a, descriptor: [{key: user}], limit: fixed_window 9/h count_denied, "
        "cluster: strict}\n"
        "- {name: log, descriptor: [{key: path}], limit: sliding_log 9/h, cluster: strict}\n"
        "- {name: bucket, descriptor: [{key: zone}], limit: 9/h, cluster: strict}");
  const std::string path = "/a/path/that/is/long/enough/to/lie/somewhere/else/each/time";
  (*hosts_)[0].store.is_late = true;
  DescriptorReply reply;
  do {
    std::string message = path;
    Check(0, {kAnn, {{{"path", message}}}, {{{"zone", message}}}}, reply);
    message.assign(message.size(), 'x');  // as a buffer that is read into again
    (*hosts_)[0].store.Deliver();
    hosts_->Settle();
  } while (reply.is_waiting());
  Check(0, {kAnn, {{{"path", path}}}, {{{"zone", path}}}}, reply);
  EXPECT_TRUE(reply.allowed());
  EXPECT_EQ(AskOne(1, {{{"path", path}}}).remaining, 7U);
  EXPECT_EQ(AskOne(1, {{{"zone", path}}}).remaining, 7U);
}

TEST_F(DescriptorSharedTest, AHostThatIsCutOffCountsOnInItsPartOfAWindow) {
  Start(2,
        "- {name: a, descriptor: [{key: user}], limit: fixed_window 100/h count_denied, "
        "cluster: strict}");
  EXPECT_EQ(AllowedInTurns(2, kAnn, 40), 40);
  (*hosts_)[0].store.is_late = true;
  int allowed = 0;
  for (int i = 0; i < 50; ++i) {
    DescriptorReply reply;
    Check(0, {kAnn}, reply);
    hosts_->Advance(milliseconds(11));
    Check(0, {kAnn}, reply);
    ASSERT_FALSE(reply.is_waiting());
    allowed += reply.allowed() ? 1 : 0;
  }
  // 60 are left, and half of them are the other's.
  EXPECT_GE(allowed, 29);
  EXPECT_LE(allowed, 31);
}

TEST_F(DescriptorSharedTest, WhoWaitsIsToldOnce) {
  Start(1, kWindow);
  (*hosts_)[0].store.is_late = true;
  DescriptorReply reply;
  Check(0, {kAnn, kBob, kAnn}, reply);
  EXPECT_TRUE(reply.is_waiting());
  EXPECT_EQ((*hosts_)[0].told, 0);
  Answer(0);
  EXPECT_EQ((*hosts_)[0].told, 1);
  Check(0, {kAnn, kBob, kAnn}, reply);
  EXPECT_EQ(reply.statuses()[2].remaining, 3U);
}

TEST_F(DescriptorSharedTest, WhoGoesWhileItWaitsGivesBackWhatTheHostGave) {
  Start(1,
        "- {name: own, descriptor: [{key: host}], limit: 2/h}\n"
        "- {name: log, descriptor: [{key: user}], limit: sliding_log 9/h, cluster: strict}");
  (*hosts_)[0].store.is_late = true;
  for (int i = 0; i < 5; ++i) {
    DescriptorReply reply;
    Check(0, {{{{"host", "x"}}}, kAnn}, reply);
    ASSERT_TRUE(reply.is_waiting());
    const DescriptorChecker checker((*hosts_)[0].checker);
    checker.GiveBack(reply, hosts_->now());
    checker.GiveBack(reply, hosts_->now());  // not twice
  }
  (*hosts_)[0].store.is_late = false;
  Answer(0);
  EXPECT_EQ((*hosts_)[0].told, 0);
  EXPECT_EQ(AskOne(0, {{{"host", "x"}}}).remaining, 1U);
}

TEST_F(DescriptorSharedTest, AfterTheDeadlineTheRuleSaysWhatThen) {
  struct Case {
    std::string policy;
    int allowed;
  };
  for (const std::string limit : {"fixed_window 2/h count_denied", "sliding_log 2/h"}) {
    for (const Case& expected : {Case{"allow", 5}, Case{"deny", 0}, Case{"local", 2}}) {
      Start(1, "- {name: a, descriptor: [{key: user}], limit: " + limit +
                   ", cluster: strict, on_error: " + expected.policy + "}");
      (*hosts_)[0].store.is_dead = true;
      int allowed = 0;
      for (int i = 0; i < 5; ++i) {
        DescriptorReply reply;
        Check(0, {kAnn}, reply);
        for (int ms = 0; ms < 20 && reply.is_waiting(); ++ms) hosts_->Advance(milliseconds(1));
        ASSERT_FALSE(reply.is_waiting()) << "nobody waits longer than the deadline";
        Check(0, {kAnn}, reply);
        allowed += reply.allowed() ? 1 : 0;
      }
      EXPECT_EQ(allowed, expected.allowed) << limit << " " << expected.policy;
      hosts_->Advance(milliseconds(1));
      EXPECT_GE((*hosts_)[0].cluster.counts().late, 5U) << "and it is counted";
    }
  }
}

// Three hosts that share say what one says that has all of it to itself.
TEST_F(DescriptorSharedTest, TogetherTheySayWhatOneWouldSay) {
  const auto rules = [](const std::string& cluster) {
    std::string text;
    for (const std::string rule :
         {"{name: a, descriptor: [{key: window}], limit: fixed_window 9/min count_denied",
          "{name: b, descriptor: [{key: log}], limit: sliding_log 5/min",
          "{name: c, descriptor: [{key: both}], limits: [fixed_window 6/min count_denied, "
          "sliding_window 20/h]",
          "{name: d, descriptor: [{key: shadow}], limit: fixed_window 4/min, mode: shadow",
          "{name: e, descriptor: [{key: quota}], limit: fixed_window 4/min, quota_mode: true",
          "{name: f, descriptor: [{key: counted}], limit: fixed_window 3/min count_denied, "
          "mode: shadow"}) {
      text += "- " + rule + cluster + "}\n";
    }
    return text;
  };
  const std::vector<std::string> keys = {"window", "log", "both", "shadow", "quota", "counted"};
  const std::vector<std::string> values = {"a", "b"};
  Start(3, rules(", cluster: strict"));
  ClusterHarness alone(1, rules(""));
  std::mt19937 chance(7);
  const auto draw = [&](std::size_t below) { return chance() % below; };
  for (int step = 0; step < 2'000; ++step) {
    std::vector<Asked> asked(1 + draw(3));
    // What one descriptor gives back is known to all that ask for the same with it.
    const std::size_t first = draw(keys.size());
    for (std::size_t i = 0; i < asked.size(); ++i) {
      Asked& one = asked[i];
      one.entries = {{keys[(first + i) % keys.size()], values[draw(2)]}};
      one.hits = draw(4);
      if (draw(8) == 0) one.hits_are = HitsAre::kGivenBack;
      if (draw(8) == 0) one.limit = LimitOverride{5, LimitUnit::kMinute};
    }
    // What is given back is seen a second late where it was refused before.
    hosts_->Advance(milliseconds(1'001 + draw(2'000)));
    alone.Advance(hosts_->now() - alone.now());
    const DescriptorReply& reply = Ask(draw(3), asked);
    std::vector<DescriptorAsk> asks;
    for (const Asked& one : asked) {
      asks.push_back({one.entries, one.hits, one.hits_are, one.limit});
    }
    DescriptorReply right;
    DescriptorChecker(alone[0].checker).Check({"shop", asks, 0}, alone.now(), right);
    ASSERT_EQ(reply.allowed(), right.allowed()) << step;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const DescriptorStatus& is = reply.statuses()[i];
      const DescriptorStatus& should = right.statuses()[i];
      ASSERT_EQ(is.over, should.over) << step;
      ASSERT_EQ(is.over_in_shadow, should.over_in_shadow) << step;
      ASSERT_EQ(is.remaining, should.remaining) << step;
      ASSERT_EQ(is.limit, should.limit) << step;
      // A host knows the store's time as well as clocks keep pace.
      const Nanos off = is.until_reset.value_or(Nanos(0)) - should.until_reset.value_or(Nanos(0));
      ASSERT_LE(std::chrono::abs(off), milliseconds(50)) << step;
    }
  }
}

TEST_F(DescriptorSharedTest, ADomainThatNobodyKnowsWaitsForNobody) {
  Start(1, kWindow);
  (*hosts_)[0].store.is_late = true;
  const std::vector<DescriptorAsk> asks = {{kAnn.entries}};
  DescriptorReply reply;
  reply.Join((*hosts_)[0].cluster, (*hosts_)[0]);
  DescriptorChecker((*hosts_)[0].checker).Check({"elsewhere", asks, 0}, hosts_->now(), reply);
  EXPECT_FALSE(reply.is_waiting());
  EXPECT_TRUE(reply.allowed());
}

}  // namespace
}  // namespace weir
