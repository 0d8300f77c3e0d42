// One key on one host, told what an authority says: no network, no clock.
#include "authority/host_key.h"

#include <gtest/gtest.h>

#include "authority/account.h"
#include "authority/host.h"

namespace weir::authority {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

Instant At(int ms) { return Instant(seconds(1000)) + milliseconds(ms); }

KeyPolicy PolicyOf(const Quota& quota, Mode mode, OnFailure on_failure = OnFailure::kLocal) {
  KeyPolicy policy;
  policy.terms = Terms::Of(quota).value();
  policy.mode = mode;
  policy.on_failure = on_failure;
  return policy;
}

SyncReply Given(std::uint64_t grant, std::uint64_t lease = 0) {
  SyncReply reply;
  reply.grant = grant;
  reply.lease = lease;
  reply.lease_for = milliseconds(50);
  reply.epoch = 7;
  reply.tokens = 1;
  reply.share = WarmBucket::kWhole;
  return reply;
}
SyncReply Refused(Micros deny_for) {
  SyncReply reply;
  reply.deny_for = deny_for;
  reply.share = WarmBucket::kWhole;
  return reply;
}
SyncReply Failed(Outcome outcome) {
  SyncReply reply;
  reply.outcome = outcome;
  return reply;
}

// A key that has asked often enough to lease, and was given `permits`.
HostKey Leasing(std::uint64_t permits) {
  HostKey key("k", PolicyOf(Quota::PerSecond(10'000), Mode::kLease));
  for (int i = 0; i < 50; ++i) EXPECT_EQ(key.Ask(1, At(0)).answer, Answer::kAsk);
  EXPECT_GT(key.MakeRequest(1, 0, At(0)).wanted, 0);
  key.OnReply(1, 0, Given(permits), At(0), At(1));
  EXPECT_TRUE(key.is_leasing());
  return key;
}

TEST(HostKeyTest, StrictAsksAboutEachRequestUnlessItIsKnownToBeRefused) {
  HostKey key("k", PolicyOf(Quota::PerSecond(10'000), Mode::kStrict));
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(key.Ask(1, At(0)).answer, Answer::kAsk);
    ASSERT_EQ(key.MakeRequest(1, 1, At(0)).wanted, 0);
  }
  key.OnReply(1, 2, Refused(microseconds(5'000)), At(0), At(1));
  const LocalDecision refused = key.Ask(2, At(2));
  EXPECT_EQ(refused.answer, Answer::kDeny);
  EXPECT_EQ(refused.retry_after, milliseconds(3)) << "from when it was asked: it held then";
  EXPECT_EQ(key.Ask(1, At(2)).answer, Answer::kAsk) << "less may be there";
  EXPECT_EQ(key.Ask(2, At(5)).answer, Answer::kAsk);
  EXPECT_EQ(key.Ask(10'001, At(5)).answer, Answer::kNever);
}

TEST(HostKeyTest, ALeaseAnswersFromMemoryAndOrdersBeforeItRunsOut) {
  HostKey key = Leasing(100);
  int spent = 0;
  while (!key.IsDue(At(1))) {
    ASSERT_EQ(key.Ask(1, At(1)).answer, Answer::kAllow);
    ++spent;
  }
  EXPECT_GT(key.reservation().credit(), 0);
  const SyncRequest request = key.MakeRequest(2, 0, At(1));
  EXPECT_EQ(request.spent, spent);
  EXPECT_EQ(request.kept, 100 - spent);
  EXPECT_EQ(request.epoch, 7);
  EXPECT_GT(request.wanted, 0);
  EXPECT_FALSE(key.IsDue(At(1))) << "one at a time";
}

TEST(HostKeyTest, WhoeverHasALeaseIsPaced) {
  HostKey key = Leasing(0);
  key.MakeRequest(2, 0, At(10));
  key.OnReply(2, 0, Given(0, 10), At(10), At(10));
  const LocalDecision paced = key.Ask(1, At(10));
  EXPECT_EQ(paced.answer, Answer::kDeny);
  EXPECT_EQ(paced.retry_after, milliseconds(5));
  EXPECT_EQ(key.Ask(1, At(15)).answer, Answer::kAllow);
}

TEST(HostKeyTest, AMissWhileAnExchangeIsUnderWayMovesNoReservation) {
  HostKey key = Leasing(0);
  key.MakeRequest(2, 1, At(2));
  EXPECT_EQ(key.Ask(1, At(2)).answer, Answer::kAsk);
  const SyncRequest second = key.MakeRequest(3, 1, At(2));
  EXPECT_EQ(second.take, 1);
  EXPECT_EQ(second.wanted + second.kept + second.spent + second.returned, 0);
}

TEST(HostKeyTest, ARefusalDoesNotKeepTheNextExchangeFromOrdering) {
  HostKey key = Leasing(0);
  EXPECT_EQ(key.Ask(1, At(2)).answer, Answer::kAsk);
  key.OnReply(9, 1, Refused(microseconds(60'000)), At(2), At(3));
  for (int i = 0; i < 50; ++i) EXPECT_EQ(key.Ask(1, At(34)).answer, Answer::kDeny);
  ASSERT_TRUE(key.IsDue(At(34)));
  EXPECT_GT(key.MakeRequest(2, 0, At(34)).wanted, 0) << "permits may be sold ahead";
}

TEST(HostKeyTest, WhatWasSurelyNotDoneIsToldAgain) {
  HostKey key = Leasing(100);
  EXPECT_EQ(key.Ask(1, At(1)).answer, Answer::kAllow);
  const SyncRequest first = key.MakeRequest(2, 0, At(40));
  EXPECT_EQ(first.spent, 1);
  key.OnReply(2, 0, Failed(Outcome::kNotDone), At(40), At(41));
  const SyncRequest second = key.MakeRequest(3, 0, At(41));
  EXPECT_EQ(second.spent, 1);
  EXPECT_EQ(second.kept + second.returned, 99);
}

TEST(HostKeyTest, WhatMayHaveBeenDoneIsNeverToldAgainButCanBeSpentWhileItIsBacked) {
  HostKey key = Leasing(100);
  EXPECT_EQ(key.Ask(1, At(1)).answer, Answer::kAllow);
  key.MakeRequest(2, 0, At(2));
  const std::uint64_t kept = key.reservation().credit();
  key.OnReply(2, 0, Failed(Outcome::kUnknown), At(2), At(3));
  EXPECT_EQ(key.orphaned(), kept);
  EXPECT_EQ(key.Ask(1, At(4)).answer, Answer::kAllow);
  const SyncRequest next = key.MakeRequest(3, 0, At(40));
  EXPECT_EQ(next.spent + next.kept + next.returned + next.debt, 0);
  EXPECT_EQ(key.Ask(1, At(186)).answer, Answer::kAllow);
  EXPECT_EQ(key.Ask(1, At(188)).answer, Answer::kAsk) << "three quarters of an epoch are over";
}

TEST(HostKeyTest, AReservationThatWasNotRenewedInTimeIsVoid) {
  HostKey key = Leasing(100);
  EXPECT_EQ(key.Ask(1, At(187)).answer, Answer::kAllow);
  EXPECT_EQ(key.Ask(1, At(188)).answer, Answer::kAsk);
  EXPECT_EQ(key.wasted(), 99);
}

TEST(HostKeyTest, WhatIsNotNeededGoesBack) {
  HostKey key = Leasing(1'000);
  const SyncRequest request = key.MakeRequest(2, 0, At(180));
  EXPECT_EQ(request.returned, 1'000) << "nobody asked for a while";
  EXPECT_EQ(request.wanted, 0);
  key.OnReply(2, 0, Given(0), At(180), At(181));
  EXPECT_TRUE(key.IsQuiet());
}

TEST(HostKeyTest, WriteBackDecidesByItsViewAndTellsBeforeTooMuchIsUntold) {
  HostKey key("k", PolicyOf(Quota::PerSecond(1'000), Mode::kWriteBack));
  for (int i = 0; i < 50; ++i) ASSERT_EQ(key.Ask(1, At(0)).answer, Answer::kAllow) << i;
  EXPECT_TRUE(key.IsDue(At(0)));
  EXPECT_EQ(key.Ask(1, At(0)).answer, Answer::kAsk) << "a twentieth of the burst is untold";
  EXPECT_EQ(key.MakeRequest(1, 0, At(0)).debt, 50);
  EXPECT_EQ(key.Ask(1, At(0)).answer, Answer::kAsk) << "on its way is not told";
  SyncReply reply = Given(0);
  reply.tokens = -10;
  key.OnReply(1, 0, reply, At(0), At(1));
  EXPECT_EQ(key.Ask(1, At(1)).answer, Answer::kDeny);
  EXPECT_EQ(key.Ask(1, At(1)).retry_after, milliseconds(11));
  EXPECT_EQ(key.Ask(1, At(12)).answer, Answer::kAllow);
}

TEST(HostKeyTest, TheFailurePolicyIsAllowDenyOrTheWarmShare) {
  const Quota quota = Quota::PerSecond(100);
  HostKey allow("k", PolicyOf(quota, Mode::kStrict, OnFailure::kAllow));
  HostKey deny("k", PolicyOf(quota, Mode::kStrict, OnFailure::kDeny));
  HostKey local("k", PolicyOf(quota, Mode::kStrict, OnFailure::kLocal));
  // Half of the demand is this host's, and half of its bucket is used already.
  SyncReply reply = Given(0);
  reply.share = 500'000;
  reply.taken = 1;
  local.OnReply(1, 25, reply, At(0), At(0));
  for (int i = 0; i < 25; ++i) {
    ASSERT_EQ(local.Fallback(1, Outcome::kNotDone, At(0)).answer, Answer::kAllow) << i;
    ASSERT_EQ(allow.Fallback(1, Outcome::kNotDone, At(0)).answer, Answer::kAllow);
    ASSERT_EQ(deny.Fallback(1, Outcome::kNotDone, At(0)).answer, Answer::kDeny);
  }
  EXPECT_EQ(local.Fallback(1, Outcome::kNotDone, At(0)).answer, Answer::kDeny);
  EXPECT_EQ(allow.Fallback(1, Outcome::kNotDone, At(0)).answer, Answer::kAllow);
  EXPECT_EQ(local.debt(), 25);
  EXPECT_EQ(deny.debt(), 0);
}

TEST(HostKeyTest, WhatAPolicyAdmittedIsReportedLaterWithoutWhatHasFlownBack) {
  HostKey key("k", PolicyOf(Quota::PerSecond(100), Mode::kStrict, OnFailure::kAllow));
  for (int i = 0; i < 500; ++i) key.Fallback(1, Outcome::kNotDone, At(0));
  EXPECT_EQ(key.debt(), 100) << "bounded by the burst";
  EXPECT_TRUE(key.IsDue(At(600)));
  EXPECT_EQ(key.MakeRequest(1, 0, At(600)).debt, 40);
  EXPECT_EQ(key.debt(), 0);
  key.OnReply(1, 0, Failed(Outcome::kNotDone), At(600), At(601));
  EXPECT_EQ(key.debt(), 40);
}

TEST(HostTest, AnswersByPolicyAtTheDeadlineAndIgnoresWhatComesLater) {
  Host host({});
  HostKey& key = host.Find("k", PolicyOf(Quota::PerSecond(10), Mode::kStrict, OnFailure::kDeny));
  EXPECT_EQ(host.Ask(key, 1, 42, At(0)).answer, Answer::kAsk);
  const std::vector<SyncRequest> sent = host.TakeRequests();
  ASSERT_EQ(sent.size(), 1);
  EXPECT_EQ(sent[0].key, "k");
  host.Tick(At(9));
  EXPECT_FALSE(host.has_settled());
  host.Tick(At(10));
  const std::vector<Settled> settled = host.TakeSettled();
  ASSERT_EQ(settled.size(), 1);
  EXPECT_EQ(settled[0].waiter, 42);
  EXPECT_EQ(settled[0].decision.answer, Answer::kDeny);
  SyncReply late;
  late.taken = 1;
  host.OnReply(sent[0].ticket, late, At(11));
  host.OnReply(sent[0].ticket, late, At(11));
  EXPECT_FALSE(host.has_settled());
  EXPECT_EQ(host.under_way(), 0);
}

TEST(HostKeyTest, WhatWasLeasedIsAtHandAgainWhenItIsGivenBack) {
  HostKey key = Leasing(2);
  EXPECT_EQ(key.Ask(1, At(2)).answer, Answer::kAllow);
  EXPECT_EQ(key.Ask(1, At(2)).answer, Answer::kAllow);
  key.Refund(1, At(2));
  EXPECT_EQ(key.refund(), 0);
  EXPECT_EQ(key.reservation().at_hand(), 1);
  EXPECT_EQ(key.Ask(1, At(2)).answer, Answer::kAllow);
}

TEST(HostKeyTest, WhatTheAuthorityWasToldIsGivenBackToIt) {
  HostKey key = Leasing(2);
  EXPECT_EQ(key.Ask(2, At(2)).answer, Answer::kAllow);
  EXPECT_EQ(key.MakeRequest(2, 0, At(20)).spent, 2);
  key.Refund(2, At(20));
  EXPECT_EQ(key.refund(), 2);
  key.OnReply(2, 0, Given(1), At(20), At(21));
  EXPECT_EQ(key.MakeRequest(3, 0, At(40)).refund, 2);
  EXPECT_EQ(key.refund(), 0);
  key.OnReply(3, 0, Failed(Outcome::kNotDone), At(40), At(41));
  EXPECT_EQ(key.refund(), 2) << "is told again";
  EXPECT_EQ(key.MakeRequest(4, 0, At(60)).refund, 2);
  key.OnReply(4, 0, Failed(Outcome::kUnknown), At(60), At(61));
  EXPECT_EQ(key.refund(), 0) << "never twice";
}

TEST(HostKeyTest, ADebtThatIsGivenBackIsNotTold) {
  HostKey key("k", PolicyOf(Quota::PerSecond(10'000), Mode::kWriteBack));
  EXPECT_EQ(key.Ask(5, At(0)).answer, Answer::kAllow);
  key.Refund(3, At(0));
  EXPECT_EQ(key.debt(), 2);
  const SyncRequest request = key.MakeRequest(1, 0, At(20));
  EXPECT_EQ(request.debt, 2);
  EXPECT_EQ(request.refund, 0);
}

TEST(HostKeyTest, AnotherLimitIsInForceAtOnceAndWhatWasAdmittedCounts) {
  HostKey key("k", PolicyOf(Quota::PerSecond(100), Mode::kStrict, OnFailure::kLocal));
  key.OnReply(1, 1, Refused(microseconds(5'000)), At(0), At(0));
  for (int i = 0; i < 30; ++i) key.Fallback(1, Outcome::kNotDone, At(0));
  key.Adopt(PolicyOf(Quota::PerMinute(40), Mode::kStrict, OnFailure::kLocal));
  EXPECT_EQ(key.Ask(1, At(0)).answer, Answer::kAsk) << "the refusal was of the limit before";
  EXPECT_EQ(key.Ask(41, At(0)).answer, Answer::kNever);
  EXPECT_EQ(key.debt(), 30);
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(key.Fallback(1, Outcome::kNotDone, At(0)).answer, Answer::kAllow) << i;
  }
  EXPECT_EQ(key.Fallback(1, Outcome::kNotDone, At(0)).answer, Answer::kDeny);
  key.Adopt(PolicyOf(Quota::PerMinute(5), Mode::kStrict, OnFailure::kLocal));
  EXPECT_EQ(key.debt(), 5) << "at most a burst";
}

TEST(HostKeyTest, AKeyThatIsNotLeasedAnyMoreGivesBackWhatItHolds) {
  HostKey key = Leasing(20);
  key.Adopt(PolicyOf(Quota::PerSecond(10'000), Mode::kStrict));
  EXPECT_EQ(key.MakeRequest(2, 0, At(20)).returned, 20);
}

TEST(HostTest, ARefundOfAStrictKeyIsToldSoonAndEndsTheRefusal) {
  Host host({});
  HostKey& key = host.Find("k", PolicyOf(Quota::PerSecond(10), Mode::kStrict));
  EXPECT_EQ(host.Ask(key, 1, 1, At(0)).answer, Answer::kAsk);
  SyncReply reply = Refused(milliseconds(100));
  host.OnReply(host.TakeRequests()[0].ticket, reply, At(1));
  EXPECT_EQ(host.Ask(key, 1, 2, At(2)).answer, Answer::kDeny);
  host.Refund(key, 3, At(3));
  EXPECT_FALSE(host.has_requests());
  EXPECT_FALSE(host.is_quiet());
  host.Tick(At(101));
  ASSERT_TRUE(host.has_requests());
  EXPECT_EQ(host.TakeRequests()[0].refund, 3);

  host.Refund(key, 1, At(102));
  EXPECT_EQ(host.Ask(key, 1, 3, At(102)).answer, Answer::kAsk) << "something is there again";
}

TEST(HostTest, WhoAsksForTheSameAtTheSameInstantIsAskedForTogether) {
  Host host({});
  HostKey& key = host.Find("k", PolicyOf(Quota::PerSecond(10), Mode::kStrict));
  HostKey& other = host.Find("other", PolicyOf(Quota::PerSecond(10), Mode::kStrict));
  for (Waiter waiter = 1; waiter <= 3; ++waiter) {
    EXPECT_EQ(host.Ask(key, 2, waiter, At(0)).answer, Answer::kAsk);
    EXPECT_EQ(host.Ask(other, 1, waiter + 10, At(0)).answer, Answer::kAsk);
  }
  std::vector<SyncRequest> requests = host.TakeRequests();
  ASSERT_EQ(requests.size(), 2);
  EXPECT_EQ(requests[0].take, 2);
  EXPECT_EQ(requests[0].times, 3);
  EXPECT_EQ(requests[0].demand, 6);
  EXPECT_EQ(requests[1].times, 3);
  SyncReply reply = Refused(milliseconds(50));
  reply.taken = 2;
  host.OnReply(requests[0].ticket, reply, At(1));
  const std::vector<Settled> settled = host.TakeSettled();
  ASSERT_EQ(settled.size(), 3);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(settled[i].waiter, i + 1);
    EXPECT_EQ(settled[i].decision.answer, i < 2 ? Answer::kAllow : Answer::kDeny);
  }
}

TEST(HostTest, WhoAsksForSomethingElseOrLaterIsAskedForAlone) {
  Host host({});
  HostKey& key = host.Find("k", PolicyOf(Quota::PerSecond(10), Mode::kStrict));
  host.Ask(key, 1, 1, At(0));
  host.Ask(key, 2, 2, At(0));
  host.Ask(key, 2, 3, At(1));
  EXPECT_EQ(host.TakeRequests().size(), 3);
  host.Ask(key, 2, 4, At(1));
  EXPECT_EQ(host.TakeRequests().size(), 1) << "what was sent is sent";
}

TEST(HostTest, AllWhoWaitTogetherAreAnsweredAtTheDeadline) {
  Host host({});
  HostKey& key = host.Find("k", PolicyOf(Quota::PerSecond(10), Mode::kStrict, OnFailure::kDeny));
  for (Waiter waiter = 1; waiter <= 3; ++waiter) host.Ask(key, 1, waiter, At(0));
  host.Tick(At(10));
  EXPECT_EQ(host.TakeSettled().size(), 3);
}

TEST(HostTest, DoesNotWaitWhileTheBreakerIsOpen) {
  Host host({});
  HostKey& key = host.Find("k", PolicyOf(Quota::PerSecond(10), Mode::kStrict, OnFailure::kAllow));
  for (int i = 0; i < 3; ++i) host.Ask(key, 1, 1, At(i));
  host.Tick(At(20));
  EXPECT_EQ(host.TakeSettled().size(), 3);
  host.TakeRequests();
  EXPECT_EQ(host.breaker().state(), Breaker::State::kOpen);
  EXPECT_EQ(host.Ask(key, 1, 2, At(21)).answer, Answer::kAllow);
  EXPECT_FALSE(host.has_requests());
}

TEST(HostTest, ForgetsKeysThatAreAsGoodAsNeverSeen) {
  Host host({});
  HostKey& key = host.Find("k", PolicyOf(Quota::PerSecond(10), Mode::kStrict));
  host.Ask(key, 1, 1, At(0));
  const std::vector<SyncRequest> sent = host.TakeRequests();
  EXPECT_FALSE(host.is_quiet());
  SyncReply reply;
  reply.taken = 1;
  host.OnReply(sent[0].ticket, reply, At(1));
  host.Tick(At(2));
  EXPECT_TRUE(host.is_quiet());
  EXPECT_EQ(host.size(), 1);
  host.Forget(At(500));
  EXPECT_EQ(host.size(), 1) << "it was asked for just now";
  host.Forget(At(5'000));
  EXPECT_EQ(host.size(), 0);
}

}  // namespace
}  // namespace weir::authority
