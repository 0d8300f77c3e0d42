#include "authority/account.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <random>

namespace weir::authority {
namespace {

constexpr std::uint64_t kStart = 1'700'000'000'000'000;  // a clock as Redis has it
constexpr std::uint64_t kExact = std::uint64_t{1} << 53;

// An account of 100 permits a second, 100 at once: 5 may be sold ahead.
class AccountTest : public testing::Test {
 protected:
  SyncReply Sync(SyncRequest request, std::uint64_t at_us) {
    request.terms = &terms_;
    return Execute(request, account_, kStart + at_us, &leaks_);
  }
  SyncReply Take(std::uint64_t permits, std::uint64_t at_us) {
    SyncRequest request;
    request.take = permits;
    return Sync(request, at_us);
  }
  // As the only host: all of the demand is its own.
  SyncReply Want(std::uint64_t permits, std::uint64_t at_us) {
    SyncRequest request;
    request.wanted = permits;
    request.expected = 1000;
    return Sync(request, at_us);
  }

  Terms terms_ = Terms::Of(Quota::PerSecond(100)).value();
  Account account_;
  Leaks leaks_;
};

TEST_F(AccountTest, TakesAreAllOrNothingAndARefusalSaysWhenToComeBack) {
  EXPECT_TRUE(Take(70, 0).taken);
  const SyncReply refused = Take(31, 0);
  EXPECT_FALSE(refused.taken);
  EXPECT_EQ(refused.deny_for, Micros(10'000));
  EXPECT_EQ(refused.tokens, 30);
  EXPECT_FALSE(Take(31, 9'999).taken);
  EXPECT_TRUE(Take(31, 10'000).taken);
  EXPECT_EQ(Take(1, 10'000).deny_for, Micros(10'000));
}

TEST_F(AccountTest, ReservationsDoNotFlowBackUntilTheyAreSpent) {
  EXPECT_EQ(Want(60, 0).grant, 60);
  EXPECT_EQ(Sync({}, 200'000).tokens, 40) << "not 60: nobody has used anything";
  const SyncReply reply =
      Sync({.spent = 50, .returned = 4, .kept = 6, .epoch = account_.epoch}, 200'000);
  EXPECT_TRUE(reply.renewed);
  EXPECT_EQ(reply.tokens, 44);
  EXPECT_EQ(account_.reserved, 6);
  EXPECT_EQ(Sync({}, 210'000).tokens, 45) << "what was spent does";
}

TEST_F(AccountTest, AReservationThatIsNotRenewedIsTakenForSpentInTheSecondEpochAfter) {
  const std::uint64_t epoch = Want(60, 0).epoch;
  const auto length = static_cast<std::uint64_t>(terms_.epoch.count());
  EXPECT_EQ(Sync({}, length - 1).tokens, 40);
  EXPECT_EQ(Sync({}, 2 * length - 1).tokens, 40);
  EXPECT_EQ(account_.reserved_before, 60);
  Sync({}, 2 * length);
  EXPECT_EQ(account_.used, 60 * terms_.ticks_per_permit);
  EXPECT_EQ(leaks_.expired, 60 * terms_.ticks_per_permit);

  const SyncReply late =
      Sync({.spent = 10, .returned = 20, .kept = 30, .epoch = epoch}, 2 * length);
  EXPECT_FALSE(late.renewed);
  EXPECT_EQ(late.tokens, 40) << "neither charged twice nor given back";
}

TEST_F(AccountTest, RenewingKeepsAReservationForEver) {
  std::uint64_t epoch = Want(60, 0).epoch;
  for (std::uint64_t at = 100'000; at < 5'000'000; at += 100'000) {
    const SyncReply reply = Sync({.kept = 60, .epoch = epoch}, at);
    ASSERT_TRUE(reply.renewed) << at;
    ASSERT_EQ(reply.tokens, 40) << at;
    epoch = reply.epoch;
  }
}

TEST_F(AccountTest, WhatIsSoldAheadIsPacedAndNeverMoreThanIsTolerated) {
  EXPECT_TRUE(Take(100, 0).taken);
  const SyncReply first = Want(50, 0);
  EXPECT_EQ(first.grant, 0);
  EXPECT_EQ(first.lease, terms_.presale);
  EXPECT_EQ(first.lease_for, terms_.horizon);
  EXPECT_EQ(first.tokens, -5);
  EXPECT_EQ(first.deny_for, Micros(0));
  const SyncReply second = Want(50, 0);
  EXPECT_EQ(second.lease, 0);
  EXPECT_GT(second.deny_for, Micros(0));
}

TEST_F(AccountTest, ALeaseIsToppedUpToTheShareNotGivenOnTopOfIt) {
  EXPECT_TRUE(Take(100, 0).taken);
  const std::uint64_t epoch = Want(50, 0).epoch;
  // 30 ms later 3 have flowed back, and 2 of the 5 are left.
  const SyncReply reply =
      Sync({.spent = 3, .kept = 2, .epoch = epoch, .wanted = 50, .expected = 1000}, 30'000);
  EXPECT_EQ(reply.lease, 3);
}

TEST_F(AccountTest, TokensAreDividedByDemand) {
  Sync({.demand = 300, .expected = 300}, 0);
  const SyncReply reply = Sync({.wanted = 90, .demand = 100, .expected = 100}, 0);
  EXPECT_EQ(reply.share, 250'000);
  EXPECT_EQ(reply.grant, 25);
  EXPECT_EQ(Sync({.wanted = 90}, 0).grant, 1) << "whoever wants any gets one";
}

TEST_F(AccountTest, DemandIsForgottenOverTwoEpochs) {
  const auto epoch = static_cast<std::uint64_t>(terms_.epoch.count());
  const std::uint64_t begin = epoch - kStart % epoch;
  Sync({.demand = 300, .expected = 300}, begin);
  EXPECT_EQ(Sync({.expected = 100}, begin + epoch).share, 333'333);
  EXPECT_EQ(Sync({.expected = 100}, begin + epoch + epoch / 2).share, 666'666);
  EXPECT_EQ(Sync({.expected = 100}, begin + 2 * epoch).share, 1'000'000);
}

TEST_F(AccountTest, DebtCountsUpToFourBurstsAndTheRestIsForgiven) {
  EXPECT_EQ(Sync({.debt = 150}, 0).tokens, -50);
  EXPECT_EQ(leaks_.forgiven, 0);
  EXPECT_EQ(Sync({.debt = 400}, 0).tokens, -400);
  EXPECT_EQ(leaks_.forgiven, 50 * terms_.ticks_per_permit);
  EXPECT_EQ(Take(1, 0).deny_for, Micros(4'010'000));
}

TEST_F(AccountTest, AClockThatIsSetBackGivesNothingAndLocksNobodyOut) {
  EXPECT_TRUE(Take(100, 2'000'000).taken);
  EXPECT_FALSE(Take(1, 0).taken);
  EXPECT_FALSE(Take(1, 9'999).taken);
  EXPECT_TRUE(Take(1, 10'000).taken);
}

TEST_F(AccountTest, RefundsGiveBackWhatWasUsedAndNoMore) {
  EXPECT_TRUE(Take(70, 0).taken);
  EXPECT_EQ(Sync({.refund = 20}, 0).tokens, 50);
  const std::uint64_t overflow = leaks_.overflow;
  EXPECT_EQ(Sync({.refund = 60}, 0).tokens, 100) << "never more than the burst";
  EXPECT_EQ(leaks_.overflow - overflow, 10 * terms_.ticks_per_permit);
}

TEST_F(AccountTest, RefundsDoNotTouchWhatIsReservedForOthers) {
  EXPECT_EQ(Want(60, 0).grant, 60);
  EXPECT_EQ(Sync({.refund = 60}, 0).tokens, 40);
  EXPECT_EQ(account_.reserved, 60);
}

TEST_F(AccountTest, SeveralTakesAtOnceAreAsManyAsWouldFitOneAfterTheOther) {
  for (std::uint64_t permits = 1; permits <= 40; ++permits) {
    account_ = Account{};
    std::uint64_t one_by_one = 0;
    while (Take(permits, 0).taken == 1) ++one_by_one;
    const Account expected = account_;
    account_ = Account{};
    const SyncReply reply = Sync({.take = permits, .times = 101}, 0);
    EXPECT_EQ(reply.taken, one_by_one) << permits;
    EXPECT_GT(reply.deny_for, Micros(0)) << permits;
    EXPECT_EQ(account_, expected) << permits;
  }
}

TEST_F(AccountTest, ALimitThatChangesKeepsWhatWasUsedInPermits) {
  EXPECT_TRUE(Take(70, 0).taken);
  terms_ = Terms::Of(Quota::Per(3, std::chrono::seconds(7)).Burst(100)).value();
  EXPECT_EQ(Sync({}, 0).tokens, 30);
  EXPECT_EQ(account_.used, 70 * terms_.ticks_per_permit);
  terms_ = Terms::Of(Quota::PerSecond(1000).Burst(1000)).value();
  EXPECT_EQ(Sync({}, 0).tokens, 930);
}

TEST_F(AccountTest, WhatIsNoWholePermitIsRoundedUpWhenTheLimitChanges) {
  account_ = {.used = 70 * terms_.ticks_per_permit + 1, .at = kStart, .per_permit = 10'000};
  ASSERT_EQ(terms_.ticks_per_permit, 10'000);
  terms_ = Terms::Of(Quota::PerSecond(1000).Burst(100)).value();
  ASSERT_EQ(terms_.ticks_per_permit, 1'000);
  Sync({}, 0);
  EXPECT_EQ(account_.used, 70'001) << "a tenth of a tick more would do";
}

TEST_F(AccountTest, ASmallerLimitCutsWhatALargerOneLeftBehind) {
  terms_ = Terms::Of(Quota::PerSecond(1'000'000).Burst(1'000'000'000)).value();
  EXPECT_TRUE(Take(600'000'000, 0).taken);
  EXPECT_EQ(Want(300'000'000, 0).grant, 300'000'000);
  terms_ = Terms::Of(Quota::PerDay(10)).value();
  EXPECT_EQ(Sync({}, 0).tokens, -40) << "what is owed at most; the rest is forgiven";
  EXPECT_EQ(account_.used, 50 * terms_.ticks_per_permit);
}

TEST_F(AccountTest, ReservationsOfAnotherLengthOfEpochAreTakenForSpent) {
  const std::uint64_t epoch = Want(60, 0).epoch;
  const Micros before = terms_.epoch;
  terms_ = Terms::Of(Quota::PerMinute(100)).value();
  ASSERT_NE(terms_.epoch, before);
  const SyncReply reply = Sync({.kept = 60, .epoch = epoch}, 0);
  EXPECT_FALSE(reply.renewed);
  EXPECT_EQ(reply.tokens, 40);
  EXPECT_EQ(account_.reserved + account_.reserved_before, 0);
}

TEST_F(AccountTest, AnAuthorityThatLostItsMemoryTakesHostsAtTheirWord) {
  const std::uint64_t epoch = Want(60, 0).epoch;
  account_ = Account{};
  const SyncReply reply = Sync({.spent = 20, .kept = 40, .epoch = epoch}, 0);
  EXPECT_TRUE(reply.renewed);
  EXPECT_EQ(reply.tokens, 40);
  EXPECT_EQ(leaks_.unbacked, 60 * terms_.ticks_per_permit);
}

TEST_F(AccountTest, IsForgottenOnlyWhenNothingOfItMattersAnyMore) {
  EXPECT_TRUE(Take(100, 0).taken);
  EXPECT_EQ(ForgottenIn(account_, terms_), Micros(1'000'000) + 2 * terms_.epoch);
  const auto later = static_cast<std::uint64_t>(ForgottenIn(account_, terms_).count());
  Account fresh;
  const SyncRequest look{.terms = &terms_};
  EXPECT_EQ(Execute(look, account_, kStart + later).tokens,
            Execute(look, fresh, kStart + later).tokens);
  EXPECT_EQ(account_, fresh);
}

// A script computes with doubles, which are exact up to 2^53.
TEST(AccountNumbersTest, StayBelowWhatADoubleHoldsExactly) {
  std::mt19937_64 bits(1);
  const Quota quotas[] = {Quota::PerSecond(1'000'000'000), Quota::PerDay(999'983),
                          Quota::Per(1, std::chrono::hours(24 * 365)),
                          Quota::PerSecond(3).Burst(1'000'000'000),
                          Quota::Per(999'999'937, std::chrono::seconds(7)).Burst(999'999'929)};
  for (const Quota& quota : quotas) {
    Terms terms = Terms::Of(quota, {.over_burst = 1}).value();
    Account account;
    std::uint64_t now = kStart;
    std::uint64_t held = 0;
    for (int i = 0; i < 20'000; ++i) {
      // From here on limits change, and hosts hold what they were given under another one.
      if (i > 10'000 && bits() % 8 == 0) {
        terms = Terms::Of(quotas[bits() % std::size(quotas)], {.over_burst = 1}).value();
      }
      SyncRequest request{.terms = &terms, .take = bits() % (terms.burst + 1)};
      request.debt = bits() % 3 == 0 ? bits() % (4 * terms.burst) : 0;
      request.kept = held;
      request.epoch = account.epoch;
      request.wanted = bits() % (2 * terms.burst);
      request.demand = bits() % 2'000'000'000;
      request.expected = bits() % 2'000'000'000;
      const SyncReply reply = Execute(request, account, now);
      held = reply.renewed ? held + reply.grant + reply.lease : reply.grant + reply.lease;
      const std::uint64_t gone =
          account.used + (account.reserved + account.reserved_before) * terms.ticks_per_permit;
      ASSERT_LT(gone + request.take * terms.ticks_per_permit, kExact);
      ASSERT_LT(account.demand_before * static_cast<std::uint64_t>(terms.epoch.count()), kExact);
      ASSERT_LE(account.demand * Account::kMillion, kExact);
      ASSERT_LT(terms.burst * Account::kMillion, kExact);
      now += bits() % 1'000'000;
    }
  }
}

}  // namespace
}  // namespace weir::authority
