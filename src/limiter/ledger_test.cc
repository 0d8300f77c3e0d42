#include "limiter/ledger.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/temporary_file.h"

namespace weir {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr Instant kStart{hours(24 * 365 * 30)};

Limit LimitOf(const char* text) { return Limit::Parse(text).value(); }

class LedgerTest : public testing::Test {
 protected:
  static std::unique_ptr<Ledger> Make(const std::string& folder = {}) {
    return std::move(Ledger::Open({.max_keys = 1000, .folder = folder})).value();
  }
  static Decision Take(Ledger& ledger, const Ledger::LimitHandle& limit, std::string_view key,
                       std::uint64_t cost = 1, Instant now = kStart) {
    const Ledger::Ask ask{limit.get(), ledger.Hash(key), Permits{cost}};
    Reservation taken;
    return ledger.TakeAll({&ask, 1}, {&taken, 1}, now);
  }
};

// Every algorithm, of one word and of several.
class LedgerLimitTest : public LedgerTest, public testing::WithParamInterface<const char*> {};

TEST_P(LedgerLimitTest, KeysOfOneTableAreEachCountedUnderTheirOwnLimit) {
  const auto ledger = Make();
  const auto limit = ledger->Enter(LimitOf(GetParam())).value();
  const auto other = ledger->Enter(LimitOf("token_bucket 2/1h")).value();
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(Take(*ledger, limit, "a")) << i;
  EXPECT_FALSE(Take(*ledger, limit, "a"));
  EXPECT_TRUE(Take(*ledger, other, "b", 2));
  EXPECT_FALSE(Take(*ledger, other, "b"));
  EXPECT_EQ(Take(*ledger, limit, "c").remaining.count, 4U);
}

TEST_P(LedgerLimitTest, AFolderRemembersWhatTheProcessBeforeCounted) {
  const TemporaryFile folder;
  {
    const auto ledger = Make(folder.path());
    const auto limit = ledger->Enter(LimitOf(GetParam())).value();
    EXPECT_TRUE(Take(*ledger, limit, "a", 4));
  }
  const auto ledger = Make(folder.path());
  // Entered in another order, as rules may have changed: kinds go by the limit, not by the order.
  const auto other = ledger->Enter(LimitOf("token_bucket 100/1h")).value();
  const auto limit = ledger->Enter(LimitOf(GetParam())).value();
  EXPECT_TRUE(Take(*ledger, other, "b", 100));
  EXPECT_TRUE(Take(*ledger, limit, "a", 1));
  EXPECT_FALSE(Take(*ledger, limit, "a", 1));
}

INSTANTIATE_TEST_SUITE_P(Algorithms, LedgerLimitTest,
                         testing::Values("token_bucket 5/1h", "leaky_bucket 5/1h queue 4 free 4",
                                         "fixed_window 5/1h", "sliding_window 5/1h",
                                         "sliding_counters 5/1h windows 6", "sliding_log 5/1h"));

TEST_F(LedgerTest, ARefusalCountsWhereRefusalsDoWhoeverRefused) {
  const auto ledger = Make();
  const auto counting = ledger->Enter(LimitOf("fixed_window 20/1h count_denied")).value();
  const auto other = ledger->Enter(LimitOf("token_bucket 10/1s")).value();
  const auto take = [&](std::uint64_t cost, Instant now) {
    const Ledger::Ask asks[] = {{counting.get(), ledger->Hash("a"), Permits{cost}},
                                {other.get(), ledger->Hash("b"), Permits{cost}}};
    Reservation taken[2];
    return ledger->TakeAll(asks, taken, now);
  };
  EXPECT_TRUE(take(10, kStart));
  const Decision refused = take(6, kStart);
  EXPECT_EQ(refused.verdict, Verdict::kDeny);
  EXPECT_EQ(refused.retry_after, hours(1)) << "4 are left of the window";
  EXPECT_EQ(Take(*ledger, counting, "a", 0).remaining.count, 4U);
  EXPECT_EQ(Take(*ledger, other, "b", 0, kStart + seconds(1)).remaining.count, 10U);
}

TEST_F(LedgerTest, AKeyThatStartsEmptyGetsItsTurnTheFirstTimeItWaits) {
  const auto ledger = Make();
  const auto limit = ledger->Enter(LimitOf("token_bucket 10/1s initial 0")).value();
  const Ledger::Ask ask{limit.get(), ledger->Hash("a"), Permits{1}, milliseconds(150)};
  Reservation taken;
  EXPECT_EQ(ledger->TakeAll({&ask, 1}, {&taken, 1}, kStart).wait, milliseconds(100));
  EXPECT_FALSE(ledger->TakeAll({&ask, 1}, {&taken, 1}, kStart)) << "200 ms is too long";
}

struct LimitChange {
  const char* from;
  const char* to;
};
// Three of five were used; of seven, four are left. Between states of one word, of several, and of
// other sizes.
class LedgerChangeTest : public LedgerTest, public testing::WithParamInterface<LimitChange> {};

TEST_P(LedgerChangeTest, AChangedLimitKeepsWhatWasUsed) {
  const auto ledger = Make();
  const auto before = ledger->Enter(LimitOf(GetParam().from)).value();
  const auto after = ledger->Enter(LimitOf(GetParam().to)).value();
  EXPECT_TRUE(Take(*ledger, before, "a", 3));
  EXPECT_TRUE(Take(*ledger, after, "a", 4));
  EXPECT_FALSE(Take(*ledger, after, "a", 1));
  EXPECT_TRUE(Take(*ledger, after, "b", 7));
}

TEST_P(LedgerChangeTest, AChangeThatIsTakenBackKeepsWhatWasUsedMeanwhile) {
  const auto ledger = Make();
  const auto before = ledger->Enter(LimitOf(GetParam().from)).value();
  const auto after = ledger->Enter(LimitOf(GetParam().to)).value();
  EXPECT_TRUE(Take(*ledger, before, "a", 1));
  EXPECT_TRUE(Take(*ledger, after, "a", 2));
  EXPECT_TRUE(Take(*ledger, before, "a", 2));
  EXPECT_FALSE(Take(*ledger, before, "a", 1));
}

INSTANTIATE_TEST_SUITE_P(Changes, LedgerChangeTest,
                         testing::Values(LimitChange{"token_bucket 5/1h", "token_bucket 7/1h"},
                                         LimitChange{"leaky_bucket 5/1h queue 4 free 4",
                                                     "leaky_bucket 5/1h queue 6 free 6"},
                                         LimitChange{"fixed_window 5/1h", "fixed_window 7/1h"},
                                         LimitChange{"sliding_window 5/1h", "sliding_window 7/1h"},
                                         LimitChange{"sliding_counters 5/1h windows 6",
                                                     "sliding_counters 7/1h windows 60"},
                                         LimitChange{"sliding_log 5/1h", "sliding_log 7/1h"},
                                         LimitChange{"token_bucket 5/1h", "sliding_log 7/1h"},
                                         LimitChange{"sliding_log 5/1h", "fixed_window 7/1h"}));

TEST_F(LedgerTest, SeveralLimitsAreAllOrNothing) {
  const auto ledger = Make();
  const auto minute = ledger->Enter(LimitOf("token_bucket 3/1m")).value();
  const auto hour = ledger->Enter(LimitOf("sliding_log 4/1h")).value();
  const auto take = [&](std::uint64_t cost, Instant now) {
    const Ledger::Ask asks[] = {{minute.get(), ledger->Hash("m"), Permits{cost}},
                                {hour.get(), ledger->Hash("h"), Permits{cost}}};
    Reservation taken[2];
    return ledger->TakeAll(asks, taken, now);
  };
  EXPECT_TRUE(take(3, kStart));
  const Decision by_minute = take(1, kStart);
  EXPECT_FALSE(by_minute);
  EXPECT_EQ(by_minute.limit_index, 0);
  EXPECT_TRUE(take(1, kStart + minutes(2)));  // the hour was not charged for the refusal
  const Decision by_hour = take(1, kStart + minutes(4));
  EXPECT_FALSE(by_hour);
  EXPECT_EQ(by_hour.limit_index, 1);
  EXPECT_EQ(Take(*ledger, minute, "m", 3, kStart + minutes(4)).verdict, Verdict::kAllow);
}

TEST_F(LedgerTest, PatienceMakesARequestWaitForItsTurn) {
  const auto ledger = Make();
  const auto limit = ledger->Enter(LimitOf("token_bucket 1/1s")).value();
  const auto take = [&](Nanos patience) {
    const Ledger::Ask ask{limit.get(), ledger->Hash("a"), Permits{1}, patience};
    Reservation taken;
    return ledger->TakeAll({&ask, 1}, {&taken, 1}, kStart);
  };
  EXPECT_EQ(take(seconds(2)).wait, Nanos(0));
  EXPECT_EQ(take(seconds(2)).wait, seconds(1));
  EXPECT_EQ(take(seconds(2)).wait, seconds(2));
  const Decision refused = take(seconds(2));
  EXPECT_FALSE(refused);
  EXPECT_EQ(refused.retry_after, seconds(3));
}

TEST_F(LedgerTest, WhatWasTakenCanBeGivenBackOnce) {
  const auto ledger = Make();
  const auto limit = ledger->Enter(LimitOf("token_bucket 2/1h")).value();
  const Ledger::Ask ask{limit.get(), ledger->Hash("a"), Permits{2}};
  Reservation taken;
  EXPECT_TRUE(ledger->TakeAll({&ask, 1}, {&taken, 1}, kStart));
  ledger->Cancel(ask, taken, kStart);
  ledger->Cancel(ask, taken, kStart);
  EXPECT_TRUE(Take(*ledger, limit, "a", 2));
  EXPECT_FALSE(Take(*ledger, limit, "a", 1));
}

TEST_F(LedgerTest, ALimitMayComeWithEachRequestAndIsNotKept) {
  const auto ledger = Make();
  const auto limit = ledger->Enter(LimitOf("token_bucket 2/1h")).value();
  const algorithm::Cell slow = algorithm::Cell::Of(Permits{2}, Permits{2}, hours(1)).value();
  const algorithm::Cell wide = algorithm::Cell::Of(Permits{9}, Permits{2}, hours(1)).value();
  const KeyHash key = ledger->Hash("a");
  EXPECT_TRUE(ledger->TakeCell(key, slow, Permits{2}, kStart));
  EXPECT_FALSE(ledger->TakeCell(key, slow, Permits{1}, kStart));
  EXPECT_EQ(ledger->TakeCell(key, wide, Permits{1}, kStart).remaining.count, 6U);
  ledger->ForgetCell(key, kStart);
  EXPECT_TRUE(ledger->TakeCell(key, slow, Permits{2}, kStart));
  EXPECT_TRUE(Take(*ledger, limit, "b", 2));
  EXPECT_EQ(ledger->CountKeys(kStart), 2U);
}

TEST_F(LedgerTest, ASampleTellsHowFullItIs) {
  const auto small = Ledger::Open({.max_keys = 1000}).value();
  const auto few = small->Enter(LimitOf("token_bucket 2/1h")).value();
  for (int i = 0; i < 300; ++i) EXPECT_TRUE(Take(*small, few, std::to_string(i), 1));
  EXPECT_EQ(small->EstimateFill(kStart).keys, 300U) << "a small table is looked through";
  EXPECT_EQ(small->EstimateFill(kStart + hours(2)).keys, 0U) << "all are forgotten by then";
  EXPECT_GE(small->EstimateFill(kStart).slots, 1000U);

  const auto large = Ledger::Open({.max_keys = 200'000}).value();
  const auto many = large->Enter(LimitOf("token_bucket 2/1h")).value();
  for (int i = 0; i < 100'000; ++i) EXPECT_TRUE(Take(*large, many, std::to_string(i), 1));
  const KeyStates::Fill fill = large->EstimateFill(kStart);
  // Five times what the error of 8,192 slots usually is.
  EXPECT_NEAR(static_cast<double>(fill.keys), 100'000, 0.03 * static_cast<double>(fill.slots));
}

TEST_F(LedgerTest, EqualLimitsAreOne) {
  const auto ledger = Make();
  EXPECT_EQ(ledger->Enter(LimitOf("token_bucket 5/1s")).value(),
            ledger->Enter(LimitOf("token_bucket 5/1000ms")).value());
  EXPECT_NE(ledger->Enter(LimitOf("token_bucket 5/1s")).value(),
            ledger->Enter(LimitOf("token_bucket 5/2s")).value());
}

TEST_F(LedgerTest, KindsOfLimitsThatNobodyUsesAreGivenOutAgain) {
  const auto ledger = Make();
  const auto used = ledger->Enter(LimitOf("token_bucket 3/1h")).value();
  EXPECT_TRUE(Take(*ledger, used, "a", 2));
  for (int i = 1; i <= 70'000; ++i) {
    const Result<Ledger::LimitHandle> entered =
        ledger->Enter(LimitOf(("token_bucket 1/" + std::to_string(i) + "s").c_str()));
    ASSERT_TRUE(entered.ok()) << i;
  }
  EXPECT_TRUE(Take(*ledger, used, "a", 1));
  EXPECT_FALSE(Take(*ledger, used, "a", 1));
}

TEST_F(LedgerTest, AClockThatWasSetBackIsNotWaitedForOnBehalfOfLimitsEnteredJustInCase) {
  using Entering = Ledger::Entering;
  const TemporaryFile folder;
  const auto year = LimitOf("fixed_window 5/365d");
  Instant now = kStart;
  const auto retry_after_set_back = [&](Entering entering) {
    const auto ledger = Make(folder.path());
    const auto second = ledger->Enter(LimitOf("token_bucket 1/1s")).value();
    const auto long_one = ledger->Enter(year, entering).value();
    now += hours(24);
    Take(*ledger, second, "a", 1, now);
    return Take(*ledger, second, "a", 1, now - hours(1)).retry_after;
  };
  EXPECT_EQ(retry_after_set_back(Entering::kJustInCase), seconds(1));
  EXPECT_EQ(retry_after_set_back(Entering::kJustInCase), seconds(1));  // also if it is known
  EXPECT_EQ(retry_after_set_back(Entering::kToUse), hours(1) + seconds(1));
}

TEST_F(LedgerTest, AFolderIsForOneProcessAtATime) {
  const TemporaryFile folder;
  const auto ledger = Make(folder.path());
  const auto second = Ledger::Open({.max_keys = 1000, .folder = folder.path()});
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.error().message, HasSubstr("is in use by another process"));
}

TEST_F(LedgerTest, ALimitThatWasBeingWrittenDownWhenTheProcessDiedIsNoLimit) {
  const TemporaryFile folder;
  {
    const auto ledger = Make(folder.path());
    EXPECT_TRUE(Take(*ledger, ledger->Enter(LimitOf("token_bucket 5/1h")).value(), "a", 5));
  }
  std::ofstream(folder.path() + "/limits.txt", std::ios::app) << "2 token_buck";
  const auto ledger = Make(folder.path());
  EXPECT_TRUE(Take(*ledger, ledger->Enter(LimitOf("token_bucket 9/1h")).value(), "b", 9));
  EXPECT_FALSE(Take(*ledger, ledger->Enter(LimitOf("token_bucket 5/1h")).value(), "a", 1));
}

TEST_F(LedgerTest, ADamagedFolderIsRefusedWithItsPlace) {
  const TemporaryFile folder;
  { const auto ledger = Make(folder.path()); }
  std::ofstream(folder.path() + "/limits.txt") << "1 token_bucket 5/1h\nnonsense\n";
  const auto opened = Ledger::Open({.max_keys = 1000, .folder = folder.path()});
  ASSERT_FALSE(opened.ok());
  EXPECT_THAT(opened.error().message, HasSubstr("limits.txt:2: is damaged"));
}

TEST_F(LedgerTest, ALimitThatCannotBeHadLeavesEverythingAsItWas) {
  const TemporaryFile folder;
  {
    const auto ledger = Make(folder.path());
    const auto limit = ledger->Enter(LimitOf("token_bucket 5/1h")).value();
    EXPECT_TRUE(Take(*ledger, limit, "a", 5));
    std::filesystem::create_directory(folder.path() + "/records-16.table");  // in its way
    EXPECT_FALSE(ledger->Enter(LimitOf("sliding_log 5/1h")).ok());
    EXPECT_EQ(ledger->CountKeys(kStart), 1U);
    EXPECT_GT(ledger->bytes(), 0U);
  }
  const auto ledger = Make(folder.path());
  EXPECT_FALSE(Take(*ledger, ledger->Enter(LimitOf("token_bucket 5/1h")).value(), "a", 1));
}

TEST_F(LedgerTest, WithoutItsLimitsWhatIsInTheTablesIsForgottenAndNotMisread) {
  const TemporaryFile folder;
  {
    const auto ledger = Make(folder.path());
    EXPECT_TRUE(Take(*ledger, ledger->Enter(LimitOf("token_bucket 5/1h")).value(), "a", 5));
    EXPECT_TRUE(Take(*ledger, ledger->Enter(LimitOf("sliding_log 5/1h")).value(), "b", 5));
  }
  std::filesystem::remove(folder.path() + "/limits.txt");
  const auto ledger = Make(folder.path());
  EXPECT_TRUE(Take(*ledger, ledger->Enter(LimitOf("sliding_log 5/1h")).value(), "a", 5));
  EXPECT_TRUE(Take(*ledger, ledger->Enter(LimitOf("fixed_window 5/1h")).value(), "b", 5));
}

TEST_F(LedgerTest, KeysThatAreForgottenKeepNoKind) {
  const auto ledger = Make();
  for (int i = 1; i <= 66'000; ++i) {
    const auto entered =
        ledger->Enter(LimitOf(("token_bucket 1/" + std::to_string(i) + "us").c_str()));
    ASSERT_TRUE(entered.ok()) << i << ": " << entered.error().message;
    Take(*ledger, *entered, std::to_string(i % 500), 1);
  }
}

TEST_F(LedgerTest, AProcessThatIsKilledLosesNothing) {
  const TemporaryFile folder;
  int told[2];
  ASSERT_EQ(pipe(told), 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto ledger = Make(folder.path());
    const auto limit = ledger->Enter(LimitOf("fixed_window 1000000/1d")).value();
    for (char byte = 'x';;) {
      Take(*ledger, limit, "a");
      if (write(told[1], &byte, 1) != 1) _exit(1);
    }
  }
  close(told[1]);
  std::uint64_t counted = 0;
  char byte = 0;
  while (counted < 500 && read(told[0], &byte, 1) == 1) ++counted;
  kill(child, SIGKILL);
  while (read(told[0], &byte, 1) == 1) ++counted;
  close(told[0]);
  waitpid(child, nullptr, 0);
  ASSERT_GE(counted, 500U);

  const auto ledger = Make(folder.path());
  const auto limit = ledger->Enter(LimitOf("fixed_window 1000000/1d")).value();
  // One more may have been counted than was told of.
  const std::uint64_t used = 1'000'000 - Take(*ledger, limit, "a").remaining.count - 1;
  EXPECT_GE(used, counted);
  EXPECT_LE(used, counted + 1);
}

// Not run under the thread sanitizer, which makes a change of 16 bytes from several and so loses
// some.
TEST(LedgerThreadsTest, ThreadsThatChangeTheLimitNeverAdmitMoreThanTheLargerOne) {
  const auto ledger = std::move(Ledger::Open({.max_keys = 1000})).value();
  const auto small = ledger->Enter(LimitOf("token_bucket 500/1h")).value();
  const auto large = ledger->Enter(LimitOf("token_bucket 1000/1h")).value();
  std::atomic<int> admitted{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        const auto& limit = (i / 100 + t) % 2 == 0 ? small : large;
        const Ledger::Ask ask{limit.get(), ledger->Hash("a"), Permits{1}};
        Reservation taken;
        if (ledger->TakeAll({&ask, 1}, {&taken, 1}, kStart)) ++admitted;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(admitted, 500);
  EXPECT_LE(admitted, 1000);
}

TEST(LedgerThreadsTest, AKeyThatMovesToAnotherTableIsNotForgottenOnTheWay) {
  for (int round = 0; round < 200; ++round) {
    const auto ledger =
        std::move(Ledger::Open({.max_keys = 1000, .record_bytes = 1 << 20})).value();
    const auto word = ledger->Enter(LimitOf("token_bucket 100/1h")).value();
    const auto record = ledger->Enter(LimitOf("sliding_log 100/1h")).value();
    std::atomic<int> admitted{0};
    const auto take = [&](const Ledger::LimitHandle& limit) {
      const Ledger::Ask ask{limit.get(), ledger->Hash("a"), Permits{1}};
      Reservation taken;
      if (ledger->TakeAll({&ask, 1}, {&taken, 1}, kStart)) ++admitted;
    };
    for (int i = 0; i < 90; ++i) take(word);
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 20; ++i) take(record);
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(admitted, 100) << round;
  }
}

}  // namespace
}  // namespace weir
