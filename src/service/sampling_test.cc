#include "service/sampling.h"

#include <gtest/gtest.h>

#include <cmath>

namespace weir {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

class SamplingTest : public testing::Test {
 protected:
  struct Seen {
    std::uint64_t looks = 0;
    std::uint64_t weight = 0;
  };
  // So many events, evenly over `time`.
  Seen Run(std::uint64_t events, Nanos time) {
    Seen seen;
    for (std::uint64_t i = 0; i < events; ++i) {
      now_ += time / static_cast<std::int64_t>(events);
      if (!sampling_.IsTurn(now_)) continue;
      ++seen.looks;
      seen.weight += sampling_.Take(now_);
    }
    return seen;
  }
  Sampling sampling_{7};
  Instant now_{seconds(1'780'315'200)};
};

TEST_F(SamplingTest, WhileThereAreFewAllAreLookedAt) {
  const Seen seen = Run(700, seconds(1));
  EXPECT_EQ(seen.looks, 700U);
  EXPECT_EQ(seen.weight, 700U);
  EXPECT_EQ(sampling_.interval(), 1U);
}

TEST_F(SamplingTest, OfManyAboutTheSameNumberIsLookedAtHoweverManyThereAre) {
  for (const std::uint64_t events : {100'000U, 1'000'000U}) {
    Run(events, seconds(1));  // to get used to it
    const Seen seen = Run(5 * events, seconds(5));
    EXPECT_LT(seen.looks, 5 * 2 * Sampling::kPerSecond) << events;
    EXPECT_GT(seen.looks, 5 * Sampling::kPerSecond / 8) << events;
    EXPECT_GT(sampling_.interval(), 8U);
  }
}

TEST_F(SamplingTest, WeightsSumUpToTheNumberOfEvents) {
  const Seen seen = Run(10'000'000, seconds(10));
  EXPECT_NEAR(static_cast<double>(seen.weight), 10e6, 10e6 * 0.05);
  EXPECT_LT(seen.looks, 10e6 * 0.05);
}

TEST_F(SamplingTest, WhoComesAtRegularIntervalsIsSeenAsOftenAsOthers) {
  Run(1'000'000, seconds(1));
  std::uint64_t every_fourth = 0;
  std::uint64_t all = 0;
  for (std::uint64_t i = 0; i < 8'000'000; ++i) {
    now_ += nanoseconds(1'000);
    if (!sampling_.IsTurn(now_)) continue;
    const std::uint64_t weight = sampling_.Take(now_);
    all += weight;
    if (i % 4 == 0) every_fourth += weight;
  }
  EXPECT_NEAR(static_cast<double>(every_fourth) / static_cast<double>(all), 0.25, 0.03);
}

TEST_F(SamplingTest, AfterASilenceTheNextOneIsLookedAt) {
  Run(10'000'000, seconds(2));
  ASSERT_GT(sampling_.interval(), 100U);
  now_ += seconds(2);
  ASSERT_TRUE(sampling_.IsTurn(now_));
  sampling_.Take(now_);
  const Seen seen = Run(100, seconds(100));
  EXPECT_GT(seen.looks, 90U);
}

TEST_F(SamplingTest, AClockThatIsSetBackStopsNothing) {
  Run(1'000'000, seconds(1));
  now_ -= seconds(3'600);
  const Seen seen = Run(1'000'000, seconds(1));
  EXPECT_GT(seen.looks, 100U);
  EXPECT_LT(seen.looks, 20'000U);
}

}  // namespace
}  // namespace weir
