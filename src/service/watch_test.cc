#include "service/watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>
#include <utility>

#include "rule/rule_file.h"
#include "service/checker.h"
#include "service/descriptor_check.h"

namespace weir {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::SizeIs;

constexpr Instant kNoon{seconds(1'780'315'200)};

// A checker whose decisions are watched.
class WatchTest : public testing::Test {
 protected:
  WatchTest() {
    rule::Problems problems;
    auto set = rule::ReadRules(R"(
namespace: shop
rules:
  - name: per-user
    match: {path: /buy}
    by: [user]
    limit: 3/1m
  - name: per-network
    match: {path: /buy}
    by: [{ip: {v4: 24}}]
    limit: 100/1m
  - name: per-key
    match: {path: /key}
    by: [header.x-api-key]
    limit: 100/1m
  - name: staff
    match: {path: /free}
    allow: true
  - name: closed
    match: {path: /closed}
    by: [ip]
    limit: blocked
  - name: quiet
    match: {path: /quiet}
    by: [user]
    limit: 1/1m
    mode: shadow
)",
                               "t.yaml", problems);
    for (const auto& problem : problems) ADD_FAILURE() << problem.ToString();
    auto envoy = rule::ReadRules(R"(
namespace: edge
rules:
  - name: per-tenant
    descriptor: [{key: tenant}]
    limit: 2/1m
)",
                                 "e.yaml", problems);
    for (const auto& problem : problems) ADD_FAILURE() << problem.ToString();
    EXPECT_THAT(checker_.Publish({std::move(set).value(), std::move(envoy).value()}, "test"),
                IsEmpty());
  }
  void Ask(std::string_view path, std::string_view user, int times = 1) {
    const std::vector<rule::Attribute> attributes{
        {"path", path}, {"user", user}, {"ip", "192.0.2.7"}, {"header.x-api-key", "s3cr3t"}};
    CheckReply reply;
    for (int i = 0; i < times; ++i) checker_.Check({"shop", attributes}, now_, reply);
  }
  [[nodiscard]] std::vector<HeavyKey> Top(std::string_view rule, Watch::By by,
                                          std::string_view space = "shop") {
    return checker_.watch().Top(space, rule, by, 10, now_).keys;
  }
  std::vector<SeenDecision> Latest(const Watch::Filter& filter = {}) {
    return checker_.watch().Latest(filter, 10);
  }

  Checker checker_{Ledger::Open({}).value(), {}};
  Instant now_ = kNoon;
};

TEST_F(WatchTest, TheTopOfARuleAreThoseWhoConsumeMostOfIt) {
  Ask("/buy", "ann", 2);
  Ask("/buy", "bob", 3);
  EXPECT_THAT(Top("per-user", Watch::By::kConsumed),
              ElementsAre(HeavyKey{"user=bob", 3, 0}, HeavyKey{"user=ann", 2, 0}));
  EXPECT_THAT(Top("per-network", Watch::By::kConsumed),
              ElementsAre(HeavyKey{"ip=192.0.2.0/24", 5, 0}));
  EXPECT_THAT(Top("per-user", Watch::By::kDenied), IsEmpty());
}

TEST_F(WatchTest, WhoIsRefusedIsCountedUnderTheRuleThatRefusesAndConsumesNothing) {
  Ask("/buy", "ann", 10);
  EXPECT_THAT(Top("per-user", Watch::By::kConsumed), ElementsAre(HeavyKey{"user=ann", 3, 0}));
  EXPECT_THAT(Top("per-user", Watch::By::kDenied), ElementsAre(HeavyKey{"user=ann", 7, 0}));
  EXPECT_THAT(Top("per-network", Watch::By::kDenied), IsEmpty());
  EXPECT_THAT(Top("per-network", Watch::By::kConsumed),
              ElementsAre(HeavyKey{"ip=192.0.2.0/24", 3, 0}));
}

TEST_F(WatchTest, InShadowItIsSaidWhoWouldBeRefused) {
  Ask("/quiet", "ann", 3);
  EXPECT_THAT(Top("quiet", Watch::By::kConsumed), ElementsAre(HeavyKey{"user=ann", 1, 0}));
  EXPECT_THAT(Top("quiet", Watch::By::kDenied), ElementsAre(HeavyKey{"user=ann", 2, 0}));
}

TEST_F(WatchTest, DescriptorsAreWatchedToo) {
  const DescriptorChecker descriptors(checker_);
  const std::vector<rule::RequestEntry> entries{{"tenant", "acme"}};
  const std::vector<DescriptorAsk> asks{{.entries = entries}};
  DescriptorReply reply;
  for (int i = 0; i < 5; ++i) {
    descriptors.Check({.domain = "edge", .descriptors = asks}, now_, reply);
  }
  EXPECT_THAT(Top("per-tenant", Watch::By::kConsumed, "edge"),
              ElementsAre(HeavyKey{"tenant=acme", 2, 0}));
  EXPECT_THAT(Top("per-tenant", Watch::By::kDenied, "edge"),
              ElementsAre(HeavyKey{"tenant=acme", 3, 0}));
  ASSERT_THAT(Latest({.allowed = false}), SizeIs(3));
  EXPECT_EQ(Latest({.allowed = false})[0].parts[0].rule, "per-tenant");
}

TEST_F(WatchTest, ALookIsNotSeen) {
  const std::vector<rule::Attribute> attributes{{"path", "/buy"}, {"user", "ann"}};
  CheckReply reply;
  checker_.Check({"shop", attributes, {}, CheckRequest::Intent::kLook}, now_, reply);
  EXPECT_THAT(Latest(), IsEmpty());
}

TEST_F(WatchTest, TheTopIsOfThisMinuteAndTheOneBefore) {
  Ask("/buy", "ann");
  now_ += minutes(1);
  Ask("/buy", "ann");
  EXPECT_THAT(Top("per-user", Watch::By::kConsumed), ElementsAre(HeavyKey{"user=ann", 2, 0}));
  EXPECT_EQ(checker_.watch().Top("shop", "per-user", Watch::By::kConsumed, 1, now_).since, kNoon);
  now_ += minutes(1);
  EXPECT_THAT(Top("per-user", Watch::By::kConsumed), ElementsAre(HeavyKey{"user=ann", 1, 0}));
  now_ += minutes(1);
  EXPECT_THAT(Top("per-user", Watch::By::kConsumed), IsEmpty());
}

TEST_F(WatchTest, TheLastDecisionsSayWhatWasAskedAndWhatEachLimitSaid) {
  Ask("/buy", "ann", 3);
  now_ += seconds(1);
  Ask("/buy", "ann");
  const auto latest = Latest();
  ASSERT_THAT(latest, SizeIs(4));
  const SeenDecision& last = latest[0];
  EXPECT_EQ(last.at, now_);
  EXPECT_EQ(last.space, "shop");
  EXPECT_FALSE(last.allowed);
  EXPECT_THAT(last.attributes, testing::Contains(Pair("user", "ann")));
  ASSERT_THAT(last.parts, SizeIs(2));
  EXPECT_EQ(last.parts[0].rule, "per-user");
  EXPECT_EQ(last.parts[0].key, "user=ann");
  EXPECT_THAT(last.parts[0].limit, HasSubstr("3/1m"));
  EXPECT_EQ(last.parts[0].outcome, RuleOutcome::kDenied);
  EXPECT_GT(last.parts[0].retry_after, Nanos(0));
  EXPECT_EQ(last.parts[1].outcome, RuleOutcome::kAllowed);
  EXPECT_TRUE(latest[1].allowed);
}

TEST_F(WatchTest, DecisionsCanBeChosenByNamespaceRuleAndOutcome) {
  Ask("/buy", "ann", 4);
  Ask("/free", "bob");
  Ask("/closed", "cid");
  EXPECT_THAT(Latest({.allowed = false}), SizeIs(2));
  EXPECT_THAT(Latest({.rule = "closed"}), SizeIs(1));
  EXPECT_EQ(Latest({.rule = "closed"})[0].parts[0].limit, "blocked");
  ASSERT_THAT(Latest({.rule = "staff"}), SizeIs(1));
  EXPECT_EQ(Latest({.rule = "staff"})[0].allowed_by, "staff");
  EXPECT_THAT(Latest({.space = "other"}), IsEmpty());
}

TEST_F(WatchTest, RefusalsAreKeptHoweverManyPassAfterwards) {
  Ask("/closed", "cid");
  Ask("/free", "bob", 3 * Watch::kKept);
  EXPECT_THAT(Latest({.allowed = false}), SizeIs(1));
  EXPECT_THAT(checker_.watch().Latest({}, 10'000), SizeIs(Watch::kKept + 1));
}

TEST_F(WatchTest, SecretsAreNotShownButToldApart) {
  Ask("/key", "ann");
  const auto top = Top("per-key", Watch::By::kConsumed);
  ASSERT_THAT(top, SizeIs(1));
  EXPECT_THAT(top[0].key, HasSubstr("header.x-api-key=#"));
  EXPECT_THAT(top[0].key, Not(HasSubstr("s3cr3t")));
  const auto latest = Latest();
  ASSERT_THAT(latest, SizeIs(1));
  for (const auto& [name, value] : latest[0].attributes) EXPECT_NE(value, "s3cr3t") << name;
}

TEST_F(WatchTest, WhatCannotBePrintedIsNot) {
  Ask("/buy", "ann\r\nHTTP/1.1 200");
  ASSERT_THAT(Top("per-user", Watch::By::kConsumed), SizeIs(1));
  EXPECT_THAT(Top("per-user", Watch::By::kConsumed)[0].key, Not(HasSubstr("\n")));
}

TEST(WatchBoundTest, RulesBeyondTheBoundAreNotWatchedUntilOthersFallSilent) {
  Watch watch(1);
  const auto add = [&](const std::string& rule, Instant now) {
    const std::vector<Watch::Use> uses{{.rule = rule, .key = "k", .consumed = 1}};
    watch.Add({.at = now, .space = "s", .attributes = {}, .allowed_by = {}, .parts = {}}, uses);
  };
  for (std::size_t i = 0; i < Watch::kMostRules; ++i) add("rule " + std::to_string(i), kNoon);
  add("one more", kNoon);
  EXPECT_THAT(watch.Top("s", "one more", Watch::By::kConsumed, 1, kNoon).keys, IsEmpty());
  const Instant later = kNoon + minutes(2);
  add("one more", later);
  EXPECT_THAT(watch.Top("s", "one more", Watch::By::kConsumed, 1, later).keys, SizeIs(1));
}

TEST(WatchConcurrentTest, ThreadsAddWhileOthersRead) {
  Watch watch(1);
  constexpr int kEach = 3'000;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const std::vector<Watch::Use> uses{{.rule = "r", .key = "k", .consumed = 1}};
      for (int i = 0; i < kEach; ++i) {
        // So few per second that all of them are seen.
        const Instant now = kNoon + std::chrono::milliseconds(i * 2);
        if (!watch.IsTurn(now)) continue;
        watch.Add({.at = now, .space = "s", .attributes = {}, .allowed_by = {}, .parts = {}}, uses);
      }
    });
  }
  std::uint64_t before = 0;
  for (int i = 0; i < 50; ++i) {
    const auto top = watch.Top("s", "r", Watch::By::kConsumed, 1, kNoon).keys;
    if (!top.empty()) {
      EXPECT_GE(top[0].count, before);
      before = top[0].count;
    }
    EXPECT_LE(watch.Latest({}, 10).size(), 10U);
  }
  for (std::thread& thread : threads) thread.join();
  const auto top = watch.Top("s", "r", Watch::By::kConsumed, 1, kNoon).keys;
  ASSERT_THAT(top, SizeIs(1));
  EXPECT_EQ(top[0].count, 4U * kEach);
}

}  // namespace
}  // namespace weir
