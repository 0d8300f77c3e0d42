#include "authority/strict_host.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/strict_site.h"

namespace weir::authority {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

using StrictHostTest = StrictSiteTest;

// --- round trips ---------------------------------------------------------------------------------

TEST_F(StrictHostTest, ADecisionTakesOneRoundTripAndTheVeryFirstTwo) {
  const StrictLimit limit = LimitOf("fixed_window 5/1h");
  EXPECT_TRUE(Take(limit, "a"));
  EXPECT_EQ(Trips(), 2U);  // the first learns the time
  EXPECT_TRUE(Take(limit, "a"));
  EXPECT_EQ(Trips(), 1U);
  EXPECT_EQ(Take(limit, "b").remaining, Permits{4});  // a new key is taken for new
  EXPECT_EQ(Trips(), 1U);
}

TEST_F(StrictHostTest, AKeyThatComesAndGoesTakesOneRoundTripToo) {
  const StrictLimit limit = LimitOf("token_bucket 10/1s burst 1");
  EXPECT_TRUE(Take(limit, "a"));
  Trips();
  // It means nothing after 100 ms, and is gone a second later.
  for (const milliseconds pause : {milliseconds(150), milliseconds(900), milliseconds(1'200)}) {
    const bool is_gone = pause > milliseconds(1'100);
    now_ += pause;
    EXPECT_EQ(memory_.Held("a", now_).empty(), is_gone);
    EXPECT_TRUE(Take(limit, "a"));
    EXPECT_EQ(Trips(), 1U);
  }
}

TEST_F(StrictHostTest, ARaceThatIsLostCostsOneMoreAndIsDecidedOnWhatTheOtherLeft) {
  const StrictLimit limit = LimitOf("sliding_log 2/1h");
  const auto other = MakeSite(2);
  EXPECT_EQ(Take(limit, "a").remaining, Permits{1});
  Trips();
  EXPECT_EQ(Take(*other, limit, "a", Permits{1}).remaining, Permits{0});
  EXPECT_EQ(Take(limit, "a").verdict, Verdict::kDeny);
  EXPECT_EQ(Trips(), 1U);  // the answer to the lost race said all there is to know
  EXPECT_EQ(Site().host().counts().surprises, 1U);
}

TEST_F(StrictHostTest, WhoAsksMeanwhileIsDecidedTogetherAndInOrder) {
  const StrictLimit limit = LimitOf("fixed_window 40/1h");
  ASSERT_TRUE(Take(limit, "a"));
  Trips();
  for (Waiter waiter = 0; waiter < 100; ++waiter) {
    EXPECT_FALSE(Site().Ask({{.limit = &limit, .key = "a"}}, waiter));
  }
  EXPECT_EQ(store_.size(), 1U);  // the first
  store_.Settle();
  EXPECT_EQ(Trips(), 2U);  // and all others
  for (Waiter waiter = 0; waiter < 100; ++waiter) {
    const auto decisions = Site().Settled(waiter);
    ASSERT_TRUE(decisions);
    EXPECT_EQ(decisions->front().allowed(), waiter < 39) << waiter;
    EXPECT_EQ(decisions->front().remaining.count, waiter < 39 ? 38 - waiter : 0) << waiter;
  }
}

TEST_F(StrictHostTest, KeysDoNotWaitForEachOther) {
  const StrictLimit limit = LimitOf("fixed_window 5/1h");
  ASSERT_TRUE(Take(limit, "a"));
  Site().Ask({{.limit = &limit, .key = "a"}}, 1);
  Site().Ask({{.limit = &limit, .key = "b"}}, 2);
  EXPECT_EQ(store_.size(), 2U);
  store_.Settle();
}

// --- refusals ------------------------------------------------------------------------------------

TEST_F(StrictHostTest, ARefusalThatIsKnownToHoldNeedsNoAsking) {
  const StrictLimit limit = LimitOf("fixed_window 1/1h");
  const Nanos left = hours(1) - (now_.time_since_epoch() % hours(1));
  ASSERT_TRUE(Take(limit, "a"));
  Trips();
  const Decision refusal = Take(limit, "a");
  EXPECT_EQ(refusal.verdict, Verdict::kDeny);
  EXPECT_EQ(refusal.retry_after, left);
  EXPECT_EQ(Trips(), 0U);
  EXPECT_EQ(Site().host().counts().known, 1U);
}

TEST_F(StrictHostTest, WhatWasDeletedByHandIsSeenASecondLater) {
  const StrictLimit limit = LimitOf("fixed_window 1/1h");
  ASSERT_TRUE(Take(limit, "a"));
  memory_.Forget("a");
  EXPECT_FALSE(Take(limit, "a"));
  now_ += seconds(1) + Nanos(1);
  EXPECT_TRUE(Take(limit, "a"));
}

TEST_F(StrictHostTest, ARetryAtTheVeryMomentThatWasPromisedIsAdmittedAndNotOneEarlier) {
  for (const char* text :
       {"token_bucket 10/1s burst 1", "sliding_log 1/100ms", "fixed_window 1/100ms start first",
        "leaky_bucket 10/1s", "pacer 10/1s"}) {
    const StrictLimit limit = LimitOf(text);
    std::optional<Nanos> retry;
    for (int i = 0; i < 12 && !retry; ++i) {  // a pacer has stored some
      const Decision decision = Take(limit, text);
      if (!decision) retry = decision.retry_after;
    }
    ASSERT_TRUE(retry) << text;
    now_ += *retry - Nanos(1);
    const Decision early = Take(limit, text);
    EXPECT_FALSE(early) << text;
    now_ += Nanos(1);
    EXPECT_TRUE(Take(limit, text)) << text;
    now_ += seconds(10);
  }
}

TEST_F(StrictHostTest, RefusalsThatCountAreTold) {
  const StrictLimit limit = LimitOf("sliding_log 1/1s count_denied");
  ASSERT_TRUE(Take(limit, "a"));
  now_ += milliseconds(900);
  Trips();
  EXPECT_FALSE(Take(limit, "a"));
  EXPECT_EQ(Trips(), 1U);
  now_ += milliseconds(900);  // the first is out of view, the refusal is not
  EXPECT_FALSE(Take(limit, "a"));
}

TEST_F(StrictHostTest, APeekTakesNothingAndIsNeverFromMemory) {
  const StrictLimit limit = LimitOf("fixed_window 2/1h");
  const auto other = MakeSite(2);
  ASSERT_TRUE(Take(limit, "a"));
  EXPECT_EQ(Peek(Site(), limit, "a").remaining, Permits{1});
  Take(*other, limit, "a", Permits{1});
  EXPECT_EQ(Peek(Site(), limit, "a").verdict, Verdict::kDeny);
  EXPECT_EQ(Left(limit, "b"), 2U);
  EXPECT_EQ(memory_.size(), 1U);  // a look writes nothing
}

TEST_F(StrictHostTest, WhatIsGivenBackIsThereForEverybody) {
  const StrictLimit limit = LimitOf("fixed_window 3/1h");
  ASSERT_TRUE(Take(limit, "a", Permits{3}));
  Site().Refund({{.limit = &limit, .key = "a", .cost = Permits{2}}});
  store_.Settle();
  EXPECT_EQ(Left(limit, "a"), 2U);
  EXPECT_TRUE(Take(limit, "a"));
}

// --- several limits ------------------------------------------------------------------------------

class StrictHostGroupTest : public StrictHostTest {
 protected:
  std::vector<Decision> TakeAll(const std::vector<StrictAsk>& asks, Waiter waiter = 1) {
    auto decisions = Site().Ask(asks, waiter);
    if (!decisions) {
      store_.Settle();
      decisions = Site().Settled(waiter);
    }
    EXPECT_TRUE(decisions.has_value());
    return *decisions;
  }

  const StrictLimit wide_ = LimitOf("fixed_window 10/1h");
  const StrictLimit narrow_ = LimitOf("sliding_window 1/1h + token_bucket 5/1h");
};

TEST_F(StrictHostGroupTest, SeveralKeysAreOneRoundTrip) {
  const std::vector<StrictAsk> asks = {{.limit = &wide_, .key = "g"},
                                       {.limit = &narrow_, .key = "u"}};
  ASSERT_TRUE(TakeAll(asks)[1]);
  Trips();
  TakeAll({{.limit = &wide_, .key = "g"}, {.limit = &narrow_, .key = "v"}});
  EXPECT_EQ(Trips(), 1U);
}

TEST_F(StrictHostGroupTest, NothingIsChargedWhenOneOfThemRefuses) {
  const std::vector<StrictAsk> asks = {{.limit = &wide_, .key = "g"},
                                       {.limit = &narrow_, .key = "u"}};
  ASSERT_TRUE(TakeAll(asks)[1]);
  const std::vector<Decision> known = TakeAll(asks);
  EXPECT_TRUE(known[0]);
  EXPECT_EQ(known[0].remaining, Permits{9});
  EXPECT_EQ(known[1].verdict, Verdict::kDeny);
  now_ += seconds(2);  // not from memory
  EXPECT_FALSE(TakeAll(asks)[1]);
  EXPECT_EQ(Left(wide_, "g"), 9U);
  EXPECT_EQ(Left(narrow_, "u"), 0U);
}

TEST_F(StrictHostGroupTest, AKeyThatIsAskedTwiceInOneRequestIsChargedForBothOrNeither) {
  const StrictAsk ask{.limit = &wide_, .key = "g", .cost = Permits{4}};
  EXPECT_TRUE(TakeAll({ask, ask})[1]);
  EXPECT_EQ(Left(wide_, "g"), 2U);
  now_ += seconds(2);
  const StrictAsk smaller{.limit = &wide_, .key = "g", .cost = Permits{2}};
  EXPECT_FALSE(TakeAll({smaller, smaller})[1]);
  EXPECT_EQ(Left(wide_, "g"), 2U);
}

TEST_F(StrictHostGroupTest, GroupsThatShareAKeyAreDecidedTogether) {
  ASSERT_TRUE(TakeAll({{.limit = &wide_, .key = "g"}})[0]);
  Trips();
  std::vector<std::string> users;
  for (int i = 0; i < 20; ++i) users.push_back("user" + std::to_string(i));
  for (Waiter i = 0; i < 20; ++i) {
    Site().Ask({{.limit = &wide_, .key = "g"}, {.limit = &narrow_, .key = users[i]}}, i);
  }
  store_.Settle();
  EXPECT_EQ(Trips(), 2U);
  int admitted = 0;
  for (Waiter i = 0; i < 20; ++i) {
    const auto decisions = Site().Settled(i);
    ASSERT_TRUE(decisions);
    admitted += (*decisions)[0].allowed() && (*decisions)[1].allowed() ? 1 : 0;
  }
  EXPECT_EQ(admitted, 9);
}

TEST_F(StrictHostGroupTest, WhoNeedsTwoBusyKeysGetsHisTurn) {
  ASSERT_TRUE(TakeAll({{.limit = &wide_, .key = "a"}})[0]);
  Site().Ask({{.limit = &wide_, .key = "a"}}, 1);
  Site().Ask({{.limit = &wide_, .key = "b"}}, 2);
  Site().Ask({{.limit = &wide_, .key = "a"}, {.limit = &wide_, .key = "b"}}, 3);
  Site().Ask({{.limit = &wide_, .key = "a"}}, 4);  // comes after, and waits for its turn
  store_.Execute(0);
  store_.Answer(0);
  EXPECT_EQ(store_.size(), 1U);  // "a" waits for "b"
  store_.Execute(0);
  store_.Answer(0);
  EXPECT_EQ(store_.size(), 1U);  // both, with all who wait
  store_.Settle();
  for (Waiter i = 1; i <= 4; ++i) EXPECT_TRUE(Site().Settled(i)) << i;
  EXPECT_EQ(Left(wide_, "a"), 6U);
  EXPECT_EQ(Left(wide_, "b"), 8U);
}

TEST_F(StrictHostGroupTest, ARefusalInAnotherPlaceGivesBackWhatWasTaken) {
  options_.place_of = [](std::string_view key) { return key == "g" ? 1 : 2; };
  const std::vector<StrictAsk> asks = {{.limit = &wide_, .key = "g"},
                                       {.limit = &narrow_, .key = "u"}};
  const auto other = MakeSite(2);
  ASSERT_TRUE(TakeAll(asks)[1]);
  Trips();
  now_ += seconds(2);  // not from memory
  const std::vector<Decision> decisions = TakeAll(asks);
  EXPECT_EQ(decisions[0].verdict, Verdict::kAllow);
  EXPECT_EQ(decisions[0].remaining, Permits{9});
  EXPECT_EQ(decisions[1].verdict, Verdict::kDeny);
  EXPECT_EQ(Trips(), 3U);  // take, look, give back
  EXPECT_EQ(Left(wide_, "g"), 9U);
}

// --- limits that change --------------------------------------------------------------------------

TEST_F(StrictHostTest, WhatWasUsedStaysUsedWhenARuleChanges) {
  const StrictLimit before = LimitOf("fixed_window 10/1h");
  const StrictLimit after = LimitOf("sliding_window 20/1h");
  const auto other = MakeSite(2);
  ASSERT_TRUE(Take(before, "a", Permits{7}));
  EXPECT_EQ(Take(*other, after, "a", Permits{1}).remaining, Permits{12});
  // The rule has not reached this host yet: it goes on from there.
  EXPECT_EQ(Take(before, "a", Permits{1}).remaining, Permits{1});
}

TEST_F(StrictHostTest, WhatSomebodyElseWroteIsAKeyNeverSeen) {
  const StrictLimit limit = LimitOf("fixed_window 10/1h");
  const std::string foreign = "3000000 1790000000123456 7160000000 12 0 40 38";
  const SwapKey key{.name = "a", .seen = "", .value = foreign, .ttl = hours(1)};
  const SwapRequest request{.ticket = 7, .keys = {&key, 1}};
  store_.Swap({&request, 1}, Site());
  store_.Settle();
  EXPECT_EQ(Take(limit, "a").remaining, Permits{9});
  EXPECT_EQ(Left(limit, "a"), 9U);
}

TEST_F(StrictHostTest, AStateThatIsTooLargeToSendIsRefusedWhenTheRuleIsMade) {
  EXPECT_TRUE(StrictLimit::Of(Limit::Parse("sliding_log 4000/1h").value()));
  const auto refused = StrictLimit::Of(Limit::Parse("sliding_log 100000/1h").value());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("use sliding_window"), std::string::npos);
}

// --- bounds --------------------------------------------------------------------------------------

TEST_F(StrictHostTest, RemembersSoManyKeysAndDropsTheQuietOnes) {
  options_.most_keys = 3;
  const StrictLimit limit = LimitOf("fixed_window 5/1h");
  for (const char* key : {"a", "b", "c", "a", "d"}) ASSERT_TRUE(Take(limit, key));
  EXPECT_EQ(Site().host().size(), 3U);
  Trips();
  EXPECT_EQ(Take(limit, "a").remaining, Permits{2});
  EXPECT_EQ(Trips(), 1U);
  EXPECT_EQ(Take(limit, "b").remaining, Permits{3});  // forgotten here, not there
  EXPECT_EQ(Trips(), 2U);
}

TEST_F(StrictHostTest, OfMoreThanMayWaitThePolicyDecides) {
  options_.most_waiting = 2;
  const StrictLimit limit = LimitOf("fixed_window 5/1h", OnFailure::kDeny);
  ASSERT_TRUE(Take(limit, "a"));
  EXPECT_FALSE(Site().Ask({{.limit = &limit, .key = "a"}}, 1));
  EXPECT_FALSE(Site().Ask({{.limit = &limit, .key = "a"}}, 2));
  const auto decisions = Site().Ask({{.limit = &limit, .key = "a"}}, 3);
  ASSERT_TRUE(decisions);
  EXPECT_FALSE(decisions->front());
  store_.Settle();
  EXPECT_TRUE(Site().Settled(1)->front());
}

TEST_F(StrictHostTest, WhoHasGoneBeforeItWasSentIsNotCharged) {
  const StrictLimit limit = LimitOf("fixed_window 5/1h");
  ASSERT_TRUE(Take(limit, "a"));
  Site().Ask({{.limit = &limit, .key = "a"}}, 1);
  Site().Ask({{.limit = &limit, .key = "a"}}, 2);
  Site().host().Cancel(2, now_);
  store_.Settle();
  EXPECT_TRUE(Site().Settled(1));
  EXPECT_FALSE(Site().Settled(2));
  EXPECT_EQ(Left(limit, "a"), 3U);
  EXPECT_TRUE(Site().host().is_quiet());
}

TEST_F(StrictHostTest, WhoHasGoneWaitsNowhereAndKeepsNobodyWaiting) {
  options_.most_keys = 2;
  const StrictLimit limit = LimitOf("fixed_window 5/1h");
  ASSERT_TRUE(Take(limit, "a"));
  Site().Ask({{.limit = &limit, .key = "a"}}, 1);
  for (int i = 0; i < 10; ++i) {  // each waits for `a`, and for a key that nobody else wants
    const std::string fresh = "fresh" + std::to_string(i);
    Site().Ask({{.limit = &limit, .key = "a"}, {.limit = &limit, .key = fresh}}, 2);
    Site().host().Cancel(2, now_);
  }
  EXPECT_LE(Site().host().size(), 3U);
  Site().Ask({{.limit = &limit, .key = "a"}, {.limit = &limit, .key = "b"}}, 3);
  Site().Ask({{.limit = &limit, .key = "b"}}, 4);
  EXPECT_EQ(store_.size(), 1U) << "of `b` the first has to wait, and so has the second";
  Site().host().Cancel(3, now_);
  Site().Tick();
  EXPECT_EQ(store_.size(), 2U);
  store_.Settle();
  EXPECT_TRUE(Site().Settled(4));
  EXPECT_TRUE(Site().host().is_quiet());
}

TEST_F(StrictHostTest, WhoGoesOnItsWayFromPlaceToPlaceHasItGivenBack) {
  options_.place_of = [](std::string_view key) { return key == "g" ? 1 : 2; };
  const StrictLimit wide = LimitOf("fixed_window 10/1h");
  const StrictLimit narrow = LimitOf("fixed_window 5/1h");
  ASSERT_TRUE(Take(wide, "g"));
  ASSERT_TRUE(Take(narrow, "u"));
  Site().Ask({{.limit = &wide, .key = "g"}, {.limit = &narrow, .key = "u"}}, 1);
  store_.Execute(0);
  store_.Answer(0);  // taken from `g`, and `u` is asked
  EXPECT_EQ(store_.size(), 1U);
  Site().host().Cancel(1, now_);
  Site().Tick();
  store_.Settle();
  EXPECT_EQ(Left(wide, "g"), 9U);
  EXPECT_TRUE(Site().host().is_quiet());
}

}  // namespace
}  // namespace weir::authority
