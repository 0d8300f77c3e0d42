#include "net/deadlines.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <random>
#include <vector>

namespace weir::net {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

constexpr Instant kStart{hours(5)};

struct Counted final : Deadlines::Entry {
  void OnDeadline() override {
    ++met;
    if (then) then();
  }
  int met = 0;
  std::function<void()> then;
};

class DeadlinesTest : public testing::Test {
 protected:
  // As the loop does it: every tick.
  void PassUntil(Instant end) {
    for (; now_ < end; now_ += Deadlines::kTick) deadlines_.Meet(now_);
    now_ = end;
    deadlines_.Meet(now_);
  }
  Instant now_ = kStart;
  Deadlines deadlines_{kStart};
};

TEST_F(DeadlinesTest, ADeadlineIsMetOnceAtMostTwoTicksLateAndNeverEarly) {
  Counted entry;
  deadlines_.Set(entry, kStart + seconds(10));
  PassUntil(kStart + seconds(10) - Nanos(1));
  EXPECT_EQ(entry.met, 0);
  PassUntil(kStart + seconds(10) + 2 * Deadlines::kTick);
  EXPECT_EQ(entry.met, 1);
  PassUntil(kStart + seconds(500));
  EXPECT_EQ(entry.met, 1);
}

TEST_F(DeadlinesTest, ADeadlineThatIsPutOffAgainAndAgainIsNotMet) {
  Counted entry;
  for (int i = 0; i < 200; ++i) {
    deadlines_.Set(entry, now_ + seconds(10));
    PassUntil(now_ + seconds(1));
  }
  EXPECT_EQ(entry.met, 0);
  PassUntil(now_ + seconds(10));
  EXPECT_EQ(entry.met, 1);
}

TEST_F(DeadlinesTest, ADeadlineThatComesNearerIsMetInTime) {
  Counted entry;
  deadlines_.Set(entry, kStart + seconds(60));
  deadlines_.Set(entry, kStart + seconds(5));
  PassUntil(kStart + seconds(5) - Nanos(1));
  EXPECT_EQ(entry.met, 0);
  PassUntil(kStart + seconds(6));
  EXPECT_EQ(entry.met, 1);
}

TEST_F(DeadlinesTest, ADeadlineLongerThanTheWheelGoesRound) {
  Counted entry;
  deadlines_.Set(entry, kStart + hours(1));
  PassUntil(kStart + hours(1) - Nanos(1));
  EXPECT_EQ(entry.met, 0);
  PassUntil(kStart + hours(1) + seconds(1));
  EXPECT_EQ(entry.met, 1);
}

TEST_F(DeadlinesTest, NeverAndClearedAndDestroyedAreNotMet) {
  Counted never;
  Counted cleared;
  auto destroyed = std::make_unique<Counted>();
  destroyed->then = [] { ADD_FAILURE(); };
  deadlines_.Set(never, kStart + seconds(1));
  deadlines_.Set(never, Instant::max());
  deadlines_.Set(cleared, kStart + seconds(1));
  deadlines_.Set(*destroyed, kStart + seconds(1));
  Deadlines::Clear(cleared);
  destroyed.reset();
  PassUntil(kStart + seconds(200));
  EXPECT_EQ(never.met, 0);
  EXPECT_EQ(cleared.met, 0);
}

TEST_F(DeadlinesTest, ALongSleepMeetsEverything) {
  std::vector<Counted> entries(100);
  for (int i = 0; i < 100; ++i) deadlines_.Set(entries[i], kStart + seconds(i));
  now_ = kStart + hours(10);
  PassUntil(now_);
  for (const Counted& entry : entries) EXPECT_EQ(entry.met, 1);
}

TEST_F(DeadlinesTest, WhoIsCalledMayClearOthersAndSetItself) {
  Counted one;
  Counted two;
  one.then = [&] { Deadlines::Clear(two); };
  two.then = [&] { Deadlines::Clear(one); };
  deadlines_.Set(one, kStart + seconds(1));
  deadlines_.Set(two, kStart + seconds(1));
  Counted again;
  again.then = [&] { deadlines_.Set(again, now_ + seconds(1)); };
  deadlines_.Set(again, kStart + seconds(1));
  PassUntil(kStart + seconds(10));
  EXPECT_EQ(one.met + two.met, 1);
  EXPECT_GE(again.met, 7);
  EXPECT_LE(again.met, 10);
}

// Against what is obvious: a list of instants.
TEST_F(DeadlinesTest, AgreesWithAListOfInstants) {
  std::mt19937 random(1);
  std::vector<Counted> entries(50);
  constexpr Instant kNever = Instant::max() - hours(1);
  std::vector<Instant> at(50, kNever);
  std::vector<int> met(50, 0);
  for (int step = 0; step < 20000; ++step) {
    const std::size_t i = random() % 50;
    at[i] = now_ + Nanos(random() % 1000) * 100'000'000;
    deadlines_.Set(entries[i], at[i]);
    now_ += Nanos(random() % 300'000'000);
    deadlines_.Meet(now_);
    for (std::size_t j = 0; j < 50; ++j) {
      const bool was_met = entries[j].met != met[j];
      EXPECT_TRUE(!was_met || at[j] <= now_) << j;
      EXPECT_TRUE(was_met || now_ < at[j] + 2 * Deadlines::kTick) << j;
      if (was_met) at[j] = kNever;
      met[j] = entries[j].met;
    }
  }
}

}  // namespace
}  // namespace weir::net
