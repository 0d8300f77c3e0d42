// Strict hosts whose store is slow, away, or loses answers.
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "authority/strict_host.h"
#include "tests/strict_site.h"

namespace weir::authority {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class StrictFailureTest : public StrictSiteTest {
 protected:
  StrictFailureTest() { options_.deadline = milliseconds(10); }

  // What the policy says when the only request under way is refused by the store.
  Decision TakeInVain(const StrictLimit& limit) {
    auto decisions = Site().Ask({{.limit = &limit, .key = "a"}}, 1);
    if (!decisions) {
      store_.Refuse(0);
      decisions = Site().Settled(1);
    }
    EXPECT_TRUE(decisions.has_value());
    return decisions->front();
  }
};

TEST_F(StrictFailureTest, ThePolicyAnswersForAStoreThatCannot) {
  const StrictLimit allow = LimitOf("fixed_window 2/1h", OnFailure::kAllow);
  const StrictLimit deny = LimitOf("fixed_window 2/1h", OnFailure::kDeny);
  const StrictLimit local = LimitOf("fixed_window 2/1h", OnFailure::kLocal);
  ASSERT_TRUE(Take(local, "a"));
  // One of two is used, and this host knows it.
  EXPECT_TRUE(TakeInVain(local));
  EXPECT_FALSE(TakeInVain(local));
  EXPECT_TRUE(TakeInVain(allow));
  const Decision denied = TakeInVain(deny);
  EXPECT_EQ(denied.verdict, Verdict::kDeny);
  EXPECT_GT(denied.retry_after, Nanos(0));
  EXPECT_EQ(Site().host().counts().fallen, 4U);
  EXPECT_EQ(Left(local, "a"), 1U);  // nothing of that was told
}

TEST_F(StrictFailureTest, SeveralPoliciesAreAllOrNothingToo) {
  const StrictLimit allow = LimitOf("fixed_window 5/1h", OnFailure::kAllow);
  const StrictLimit local = LimitOf("fixed_window 1/1h", OnFailure::kLocal);
  for (const bool is_admitted : {true, false}) {
    Site().Ask({{.limit = &allow, .key = "g"}, {.limit = &local, .key = "u"}}, 1);
    store_.Refuse(0);
    const auto decisions = Site().Settled(1);
    ASSERT_TRUE(decisions);
    EXPECT_TRUE((*decisions)[0]);
    EXPECT_EQ((*decisions)[1].allowed(), is_admitted);
    EXPECT_EQ((*decisions)[0].remaining, Permits{4});  // charged once
  }
}

TEST_F(StrictFailureTest, AnAnswerThatIsLostIsNeverAskedForTwiceAndTheStateIsReadAgain) {
  const StrictLimit limit = LimitOf("fixed_window 5/1h", OnFailure::kAllow);
  ASSERT_TRUE(Take(limit, "a"));
  for (const bool was_executed : {true, false}) {
    Site().Ask({{.limit = &limit, .key = "a"}}, 1);
    if (was_executed) store_.Execute(0);
    store_.Lose(0);
    EXPECT_TRUE(Site().Settled(1)->front());  // by the policy
    EXPECT_EQ(store_.size(), 0U);
  }
  EXPECT_EQ(Left(limit, "a"), 3U);
  EXPECT_EQ(Take(limit, "a").remaining, Permits{2});
}

TEST_F(StrictFailureTest, NobodyWaitsForLongerThanTheDeadline) {
  const StrictLimit limit = LimitOf("fixed_window 5/1h", OnFailure::kDeny);
  ASSERT_TRUE(Take(limit, "a"));
  Site().Ask({{.limit = &limit, .key = "a"}}, 1);
  Site().Ask({{.limit = &limit, .key = "a"}}, 2);  // is not even sent
  now_ += milliseconds(10) - Nanos(1);
  Site().Tick();
  EXPECT_FALSE(Site().Settled(1));
  now_ += Nanos(1);
  Site().Tick();
  EXPECT_FALSE(Site().Settled(1)->front());
  EXPECT_FALSE(Site().Settled(2)->front());
  // The answer that comes too late still counts, for the one that was sent.
  store_.Settle();
  EXPECT_FALSE(Site().Settled(1));
  EXPECT_EQ(Left(limit, "a"), 3U);
  EXPECT_EQ(Take(limit, "a").remaining, Permits{2});
}

TEST_F(StrictFailureTest, WhoseTimeIsOverIsNotTriedAgainAfterALostRace) {
  const StrictLimit limit = LimitOf("fixed_window 5/1h", OnFailure::kDeny);
  const auto other = MakeSite(2);
  ASSERT_TRUE(Take(limit, "a"));
  Site().Ask({{.limit = &limit, .key = "a"}}, 1);
  other->Ask({{.limit = &limit, .key = "a"}}, 1);
  now_ += milliseconds(10);
  Site().Tick();
  EXPECT_FALSE(Site().Settled(1)->front());
  // The other one first learns the time, and then wins the race.
  store_.Execute(1);
  store_.Answer(1);
  store_.Execute(1);
  store_.Answer(1);
  EXPECT_TRUE(other->Settled(1)->front());
  store_.Settle();
  EXPECT_EQ(Left(limit, "a"), 3U);
}

TEST_F(StrictFailureTest, AfterThreeFailuresNobodyIsAskedForAWhile) {
  const StrictLimit limit = LimitOf("fixed_window 5/1h", OnFailure::kAllow);
  ASSERT_TRUE(Take(limit, "a"));
  Trips();
  for (int i = 0; i < 3; ++i) TakeInVain(limit);
  EXPECT_EQ(Trips(), 3U);
  EXPECT_EQ(Site().host().breaker().state(), Breaker::State::kOpen);
  EXPECT_TRUE(TakeInVain(limit));
  EXPECT_EQ(Trips(), 0U);
  now_ += seconds(2);
  EXPECT_EQ(Take(limit, "a").remaining, Permits{3});  // a probe, and it is back
  EXPECT_EQ(Site().host().breaker().state(), Breaker::State::kClosed);
}

TEST_F(StrictFailureTest, RacesThatAreLostAreNoFailures) {
  const StrictLimit limit = LimitOf("fixed_window 1000/1h");
  const auto other = MakeSite(2);
  ASSERT_TRUE(Take(limit, "a"));
  ASSERT_TRUE(Take(*other, limit, "a", Permits{1}));
  for (int i = 0; i < 20; ++i) {
    Site().Ask({{.limit = &limit, .key = "a"}}, 1);
    ASSERT_TRUE(Take(*other, limit, "a", Permits{1}));  // settles the first one too
    EXPECT_TRUE(Site().Settled(1)->front());
  }
  EXPECT_GE(Site().host().counts().surprises, 10U);
  EXPECT_EQ(Site().host().breaker().state(), Breaker::State::kClosed);
  EXPECT_EQ(Left(limit, "a"), 1000U - 42U);
}

TEST_F(StrictFailureTest, ThoseWhoWaitBehindAFailureAreAnsweredToo) {
  const StrictLimit limit = LimitOf("fixed_window 5/1h", OnFailure::kAllow);
  ASSERT_TRUE(Take(limit, "a"));
  TakeInVain(limit);
  TakeInVain(limit);
  Site().Ask({{.limit = &limit, .key = "a"}}, 1);
  Site().Ask({{.limit = &limit, .key = "a"}}, 2);
  store_.Refuse(0);  // the third
  EXPECT_TRUE(Site().Settled(1));
  EXPECT_TRUE(Site().Settled(2));
  EXPECT_EQ(store_.size(), 0U);
  EXPECT_TRUE(Site().host().is_quiet());
}

// How many more a host admits when nobody answers.
int AdmittedInVain(StrictSite& site, SlowStore& store, const StrictLimit& limit) {
  for (int admitted = 0;; ++admitted) {
    auto decisions = site.Ask({{.limit = &limit, .key = "a"}}, 1);
    if (!decisions) {
      store.Refuse(0);
      decisions = site.Settled(1);
    }
    if (!decisions->front()) return admitted;
  }
}

TEST_F(StrictFailureTest, HostsThatAreCutOffGoOnWithTheirPartsWhateverTheAlgorithm) {
  for (const char* text :
       {"fixed_window 90/1h", "sliding_window 90/1h", "sliding_log 90/1h",
        "sliding_counters 90/1h windows 6", "token_bucket 90/1h + fixed_window 100/1h"}) {
    const StrictLimit limit = LimitOf(text);
    memory_ = LocalSwapStore([this] { return now_; });
    const auto one = MakeSite(1);
    const auto other = MakeSite(2);
    for (int i = 0; i < 10; ++i) {
      ASSERT_TRUE(Take(*one, limit, "a", Permits{1}));
      ASSERT_TRUE(Take(*other, limit, "a", Permits{2}));
    }
    EXPECT_EQ(Peek(*one, limit, "a").remaining, Permits{60});
    // A third of 60, and two thirds.
    EXPECT_EQ(AdmittedInVain(*one, store_, limit), 20) << text;
    EXPECT_EQ(AdmittedInVain(*other, store_, limit), 40) << text;
  }
}

TEST_F(StrictFailureTest, AHostWhosePartIsLessThanOneMayTakeOne) {
  const StrictLimit limit = LimitOf("fixed_window 10/1s");
  const auto one = MakeSite(1);
  const auto other = MakeSite(2);
  for (int second = 0; second < 5; ++second, now_ += seconds(1)) {
    ASSERT_TRUE(Take(*other, limit, "a", Permits{9}));
  }
  ASSERT_TRUE(Take(*one, limit, "a", Permits{1}));
  now_ += seconds(1);
  EXPECT_EQ(AdmittedInVain(*one, store_, limit), 1);
}

TEST_F(StrictFailureTest, AHostThatNeverTookAnythingHasTheWholeLimit) {
  const StrictLimit limit = LimitOf("fixed_window 10/1h");
  const auto one = MakeSite(1);
  const auto other = MakeSite(2);
  ASSERT_TRUE(Take(*other, limit, "a", Permits{3}));
  EXPECT_EQ(Peek(*one, limit, "a").remaining, Permits{7});
  EXPECT_EQ(AdmittedInVain(*one, store_, limit), 7);
}

TEST_F(StrictFailureTest, WhatIsKnownLocallyEndsWhenTheStoreIsBack) {
  const StrictLimit limit = LimitOf("fixed_window 3/1h");
  ASSERT_TRUE(Take(limit, "a"));
  EXPECT_TRUE(TakeInVain(limit));
  EXPECT_EQ(Take(limit, "a").remaining, Permits{1});  // the store's word
  EXPECT_TRUE(TakeInVain(limit));                     // and from there
}

TEST_F(StrictFailureTest, AFailureInASecondPlaceGivesBackWhatWasTakenInTheFirst) {
  options_.place_of = [](std::string_view key) { return key == "g" ? 1 : 2; };
  const StrictLimit wide = LimitOf("fixed_window 10/1h", OnFailure::kAllow);
  const StrictLimit deny = LimitOf("fixed_window 5/1h", OnFailure::kDeny);
  ASSERT_TRUE(Take(wide, "g"));
  Site().Ask({{.limit = &wide, .key = "g"}, {.limit = &deny, .key = "u"}}, 1);
  store_.Execute(0);
  store_.Answer(0);
  ASSERT_EQ(store_.size(), 1U);
  store_.Refuse(0);
  const auto decisions = Site().Settled(1);
  ASSERT_TRUE(decisions);
  EXPECT_TRUE((*decisions)[0]);
  EXPECT_EQ((*decisions)[0].remaining, Permits{9});
  EXPECT_FALSE((*decisions)[1]);
  store_.Settle();
  EXPECT_EQ(Left(wide, "g"), 9U);
}

TEST_F(StrictFailureTest, ARefundThatNobodyCanBeToldIsCounted) {
  const StrictLimit limit = LimitOf("fixed_window 3/1h");
  ASSERT_TRUE(Take(limit, "a"));
  Site().Refund({{.limit = &limit, .key = "a"}});
  store_.Refuse(0);
  EXPECT_EQ(Site().host().counts().lost_corrections, 1U);
  EXPECT_EQ(Left(limit, "a"), 2U);
}

TEST_F(StrictFailureTest, AHostThatEndsWhileSomebodyWaitsLeavesNothingBehind) {
  const StrictLimit limit = LimitOf("fixed_window 3/1h");
  auto other = MakeSite(2);
  other->Ask({{.limit = &limit, .key = "a"}}, 1);
  other->Ask({{.limit = &limit, .key = "a"}, {.limit = &limit, .key = "b"}}, 2);
  other.reset();
}

}  // namespace
}  // namespace weir::authority
