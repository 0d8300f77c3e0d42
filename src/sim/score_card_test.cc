// What the three modes are to reach, and that a run can be repeated.
#include "sim/score_card.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

namespace weir::sim {
namespace {

TEST(ScoreCardTest, OnHotKeysLeasesAreAccurateAndNearlyFree) {
  for (const Setting& setting : Settings()) {
    if (!setting.is_hot()) continue;
    for (const Load load : Loads()) {
      for (const std::uint64_t seed : {1, 3}) {
        SCOPED_TRACE(std::string(NameOf(load)) + " " + std::to_string(seed));
        const Score score = Compete("lease", setting, ArrivalsOf(setting, load, seed), seed);
        EXPECT_LE(score.error, 0.025);
        EXPECT_LE(score.over_burst, 0.1);
        EXPECT_LE(score.mean_delay, 2.0);
        EXPECT_GE(score.fairness, 0.95);
        EXPECT_LE(score.records, 5'000);
      }
    }
  }
}

TEST(ScoreCardTest, OnSlowKeysLeasesAreExactAtOneRoundTrip) {
  for (const Setting& setting : Settings()) {
    if (setting.is_hot()) continue;
    for (const Load load : Loads()) {
      SCOPED_TRACE(std::string(setting.name) + " " + std::string(NameOf(load)));
      const std::vector<Arrival> arrivals = ArrivalsOf(setting, load, 1);
      const Score score = Compete("lease", setting, arrivals, 1);
      // Requests change places on their way to the authority, at the border of a window too.
      EXPECT_LE(score.error, 0.001);
      EXPECT_LE(score.over_burst, 0.001);
      EXPECT_LE(score.p99_delay, 1'500);
      const Score strict = Compete("strict", setting, arrivals, 1);
      EXPECT_EQ(score.error, strict.error);
    }
  }
}

TEST(ScoreCardTest, TheSameSeedGivesTheSameScore) {
  const Setting& setting = Settings()[1];
  for (const Contestant& contestant : Contestants()) {
    SCOPED_TRACE(contestant.name);
    const auto run = [&](std::uint64_t seed) {
      const Score score =
          Compete(contestant.name, setting, ArrivalsOf(setting, Load::kFlash, seed), seed);
      return std::tuple(score.admitted, score.error, score.over_burst, score.fairness,
                        score.records, score.mean_delay, score.p99_delay);
    };
    EXPECT_EQ(run(5), run(5));
    EXPECT_NE(run(5), run(6));
  }
}

}  // namespace
}  // namespace weir::sim
