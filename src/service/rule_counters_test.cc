#include "service/rule_counters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "rule/rule_file.h"
#include "service/checker.h"

namespace weir {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr Instant kNoon{seconds(1'780'315'200)};

class RuleCountersTest : public testing::Test {
 protected:
  static rule::RuleSet SetOf(const std::string& space, const std::string& rules) {
    rule::Problems problems;
    auto set = rule::ReadRules("namespace: " + space + "\nrules:\n" + rules, "t.yaml", problems);
    for (const auto& problem : problems) ADD_FAILURE() << problem.ToString();
    return std::move(set).value();
  }
  void Use(const std::string& rules) {
    ASSERT_THAT(checker_.Publish({SetOf("shop", rules)}, "test"), IsEmpty());
  }
  void Check(const std::vector<rule::Attribute>& attributes, int times = 1, Instant now = kNoon) {
    for (int i = 0; i < times; ++i) checker_.Check({"shop", attributes}, now, reply_);
  }
  // What is not zero.
  using Counts = std::map<std::string, std::uint64_t>;
  Counts Of(const std::string& rule) {
    const auto rules = checker_.rules();
    for (const auto& compiled : rules->book->Find("shop")->rules()) {
      if (compiled.rule->name != rule) continue;
      return Named<RuleOutcome, kRuleOutcomes>(rules->counters.Read(compiled));
    }
    return {{"there is no rule " + rule, 1}};
  }
  Counts OfSpace() {
    const auto rules = checker_.rules();
    return Named<RequestOutcome, kRequestOutcomes>(
        rules->counters.Read(*rules->book->Find("shop")));
  }
  template <typename Outcome, std::size_t kCount>
  static Counts Named(const RuleCounters::Sums& sums) {
    Counts counts;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      if (sums[i] != 0) counts[std::string(NameOf(static_cast<Outcome>(i)))] = sums[i];
      EXPECT_TRUE(i < kCount || sums[i] == 0);
    }
    return counts;
  }

  bool has_room_ = false;
  Checker checker_{std::move(Ledger::Open({.max_keys = 10'000})).value(),
                   {.has_room = [this] { return has_room_; }}};
  CheckReply reply_;
};

TEST_F(RuleCountersTest, ARuleCountsEachRequestOnceHoweverManyLimitsItHas) {
  Use("- {name: a, by: [user], limits: [2/min, 100/h]}");
  Check({{"user", "ann"}}, 5);
  EXPECT_THAT(Of("a"), UnorderedElementsAre(Pair("allowed", 2), Pair("denied", 3)));
  EXPECT_THAT(OfSpace(), UnorderedElementsAre(Pair("allowed", 2), Pair("denied", 3)));
}

TEST_F(RuleCountersTest, EachRuleSaysItsOwnWordAndTheRequestHasOne) {
  Use("- {name: tight, match: {path: /a}, limit: 1/min}\n- {name: loose, limit: 100/min}");
  Check({{"path", "/a"}}, 3);
  Check({{"path", "/b"}}, 2);
  EXPECT_THAT(Of("tight"), UnorderedElementsAre(Pair("allowed", 1), Pair("denied", 2)));
  EXPECT_THAT(Of("loose"), ElementsAre(Pair("allowed", 5)));
  EXPECT_THAT(OfSpace(), UnorderedElementsAre(Pair("allowed", 3), Pair("denied", 2)));
}

TEST_F(RuleCountersTest, ALookIsNoRequest) {
  Use("- {name: list, match: {path: /free}, allow: true}\n- {name: a, limit: 1/min}");
  const std::vector<rule::Attribute> free = {{"path", "/free"}};
  const auto look = [&](const std::vector<rule::Attribute>& attributes) {
    checker_.Check({"shop", attributes, {}, CheckRequest::Intent::kLook}, kNoon, reply_);
  };
  look({});
  look(free);
  EXPECT_THAT(OfSpace(), IsEmpty());
  EXPECT_THAT(Of("list"), IsEmpty());
  Check({}, 2);
  look({});
  EXPECT_THAT(Of("a"), UnorderedElementsAre(Pair("allowed", 1), Pair("denied", 1)));
}

TEST_F(RuleCountersTest, ShadowRefusesNobodyAndIsCountedApart) {
  Use("- {name: a, limit: 1/min, mode: shadow}");
  Check({}, 3);
  EXPECT_THAT(Of("a"), UnorderedElementsAre(Pair("allowed", 1), Pair("shadow_denied", 2)));
  EXPECT_THAT(OfSpace(), ElementsAre(Pair("allowed", 3)));
}

TEST_F(RuleCountersTest, TheRefusalThatBansIsDeniedAndTheNextAreBanned) {
  Use("- {name: a, limit: 1/s, exceed: ban 10m}");
  Check({}, 2);
  Check({}, 4, kNoon + minutes(1));
  EXPECT_THAT(Of("a"),
              UnorderedElementsAre(Pair("allowed", 1), Pair("denied", 1), Pair("banned", 4)));
}

TEST_F(RuleCountersTest, DelaysElasticPassesAndListsAreCounted) {
  Use("- {name: slow, match: {path: /slow}, limit: 1/s burst 1, exceed: delay 1s}\n"
      "- {name: stretchy, match: {path: /stretch}, limit: 1/min, elastic: true}\n"
      "- {name: friends, match: {path: /friend}, allow: true}\n"
      "- {name: nobody, match: {path: /no}, limit: blocked}");
  Check({{"path", "/slow"}}, 3);
  has_room_ = true;
  Check({{"path", "/stretch"}}, 3);
  Check({{"path", "/friend"}}, 4);
  Check({{"path", "/no"}}, 2);
  Check({{"path", "/else"}}, 6);
  EXPECT_THAT(Of("slow"),
              UnorderedElementsAre(Pair("allowed", 1), Pair("delayed", 1), Pair("denied", 1)));
  EXPECT_THAT(Of("stretchy"), UnorderedElementsAre(Pair("allowed", 1), Pair("elastic", 2)));
  EXPECT_THAT(Of("friends"), ElementsAre(Pair("allowed", 4)));
  EXPECT_THAT(Of("nobody"), ElementsAre(Pair("denied", 2)));
  EXPECT_THAT(OfSpace(), UnorderedElementsAre(Pair("allowed", 8), Pair("delayed", 1),
                                              Pair("denied", 3), Pair("unmatched", 6)));
}

TEST_F(RuleCountersTest, ANamespaceThatNobodyKnowsIsCountedWithoutItsName) {
  Use("- {name: a, limit: 1/min}");
  for (int i = 0; i < 1000; ++i) checker_.Check({std::to_string(i), {}}, kNoon, reply_);
  EXPECT_EQ(checker_.counters().ReadOthers().unknown_space, 1000U);
  EXPECT_THAT(OfSpace(), IsEmpty());
  EXPECT_EQ(checker_.counters().lines(), 3U) << "the others', the namespace's, the rule's";
}

TEST_F(RuleCountersTest, ARuleThatIsChangedGoesOnCounting) {
  Use("- {name: a, limit: 1/min}\n- {name: b, limit: 1/h}");
  Check({}, 2);
  Use("- {name: b, limit: 7/h}\n- {name: a, limit: 5/min}");
  EXPECT_THAT(Of("a"), UnorderedElementsAre(Pair("allowed", 1), Pair("denied", 1)));
  EXPECT_THAT(OfSpace(), UnorderedElementsAre(Pair("allowed", 1), Pair("denied", 1)));
}

TEST_F(RuleCountersTest, ARuleThatCameBackBeginsAtZeroAndSoDoesWhoeverGetsItsPlace) {
  Use("- {name: a, limit: 100/min}");
  Check({}, 3);
  Use("- {name: b, limit: 100/min}");
  Check({}, 2);
  reply_.Release();
  for (int i = 0; i < 100; ++i) {
    Use("- {name: rule-" + std::to_string(i) + ", limit: 100/min}");
  }
  EXPECT_THAT(Of("rule-99"), IsEmpty());
  Use("- {name: a, limit: 100/min}");
  EXPECT_THAT(Of("a"), IsEmpty());
  Check({}, 1);
  EXPECT_THAT(Of("a"), ElementsAre(Pair("allowed", 1)));
  EXPECT_LE(checker_.counters().lines(), 6U) << "places are used again";
  EXPECT_THAT(OfSpace(), ElementsAre(Pair("allowed", 6))) << "the namespace was there all along";
}

TEST_F(RuleCountersTest, AReplyThatIsKeptKeepsThePlaceOfItsRules) {
  Use("- {name: a, limit: 100/min}");
  Check({}, 1);  // and the reply is kept
  for (int i = 0; i < 5; ++i) Use("- {name: b, limit: 100/min}");
  Use("- {name: a, limit: 100/min}");
  EXPECT_THAT(Of("a"), ElementsAre(Pair("allowed", 1))) << "it never went";
}

TEST_F(RuleCountersTest, RulesThatAreRefusedChangeNothing) {
  Use("- {name: a, limit: 100/min}");
  Check({}, 2);
  const auto twice = SetOf("shop", "- {name: b, limit: 1/min}");
  EXPECT_FALSE(checker_.Publish({twice, twice}, "bad").empty());
  EXPECT_THAT(Of("a"), ElementsAre(Pair("allowed", 2)));
}

using RuleCountersConcurrentTest = RuleCountersTest;

TEST_F(RuleCountersConcurrentTest, NothingIsLostWhileRulesAreReplaced) {
  constexpr std::uint64_t kEach = 30'000;
  constexpr std::uint64_t kThreads = 4;
  Use("- {name: a, limit: 10/h}");
  std::atomic<std::uint64_t> allowed{0};
  std::atomic<std::uint64_t> done{0};
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&] {
        CheckReply reply;
        for (std::uint64_t k = 0; k < kEach; ++k) {
          checker_.Check({"shop", {}}, kNoon, reply);
          if (reply.allowed()) ++allowed;
        }
        ++done;
      });
    }
    for (int i = 0; done < kThreads; ++i) {
      Use("- {name: a, limit: " + std::to_string(10 + i % 2) + "/h}\n- {name: b" +
          std::to_string(i) + ", match: {path: /none}, limit: 1/h}");
    }
  }
  const Counts counts = Of("a");
  EXPECT_EQ(counts.at("allowed"), allowed);
  EXPECT_EQ(counts.at("denied"), kThreads * kEach - allowed);
  EXPECT_EQ(OfSpace(), counts);
  EXPECT_LE(checker_.counters().lines(), 20U);
}

}  // namespace
}  // namespace weir
