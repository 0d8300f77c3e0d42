#include "service/heavy_hitters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>

namespace weir {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

std::vector<HeavyKey> TopOf(const HeavyHitters& one, std::size_t most) {
  const std::array parts{&one};
  return HeavyHitters::Top(parts, most);
}

TEST(HeavyHittersTest, AreExactWhileThereAreFewKeys) {
  HeavyHitters hitters;
  for (int i = 0; i < 3; ++i) hitters.Add("ann", 1);
  hitters.Add("bob", 5);
  hitters.Add("cid", 1);
  EXPECT_THAT(TopOf(hitters, 2), ElementsAre(HeavyKey{"bob", 5, 0}, HeavyKey{"ann", 3, 0}));
  EXPECT_EQ(hitters.unseen(), 0U);
}

TEST(HeavyHittersTest, OfNothingTheTopIsNothing) {
  EXPECT_THAT(TopOf(HeavyHitters(), 10), IsEmpty());
  EXPECT_THAT(HeavyHitters::Top({}, 10), IsEmpty());
}

TEST(HeavyHittersTest, AnyNumberOfKeysHasAFixedNumberOfPlaces) {
  HeavyHitters hitters;
  for (int i = 0; i < 100'000; ++i) hitters.Add("key " + std::to_string(i), 1);
  EXPECT_THAT(hitters.keys(), SizeIs(HeavyHitters::kPlaces));
}

// Keys with a long tail, of which `parts` see one half each.
class HeavyHittersBoundTest : public testing::Test {
 protected:
  HeavyHittersBoundTest() {
    std::mt19937_64 random(7);
    std::geometric_distribution<int> rank(0.05);
    for (int i = 0; i < 200'000; ++i) {
      // Half of all are keys that never come again.
      const std::string key =
          i % 2 == 0 ? "once " + std::to_string(i) : "key " + std::to_string(rank(random));
      parts_[random() % 2].Add(key, 1);
      ++truth_[key];
    }
  }
  std::array<HeavyHitters, 2> parts_;
  std::map<std::string, std::uint64_t> truth_;
};

TEST_F(HeavyHittersBoundTest, TheTruthIsBetweenTheCountAndWhatIsCertainOfIt) {
  const std::array parts{&parts_[0], &parts_[1]};
  const auto top = HeavyHitters::Top(parts, 1'000);
  ASSERT_GE(top.size(), HeavyHitters::kPlaces);
  bool is_inexact = false;
  for (const HeavyKey& key : top) {
    EXPECT_LE(truth_[key.key], key.count) << key.key;
    EXPECT_GE(truth_[key.key], key.count - key.excess) << key.key;
    is_inexact |= truth_[key.key] != key.count;
  }
  EXPECT_TRUE(is_inexact) << "nothing was put to the test";
}

TEST_F(HeavyHittersBoundTest, WhoHasMoreThanItsShareOfThePlacesIsAmongThem) {
  const std::array parts{&parts_[0], &parts_[1]};
  const auto top = HeavyHitters::Top(parts, 1'000);
  int heavy = 0;
  for (const auto& [key, count] : truth_) {
    if (count <= 200'000 / HeavyHitters::kPlaces) continue;
    ++heavy;
    EXPECT_TRUE(std::any_of(top.begin(), top.end(),
                            [&name = key](const HeavyKey& found) { return found.key == name; }))
        << key << " was counted " << count << " times";
  }
  EXPECT_GE(heavy, 3);
}

}  // namespace
}  // namespace weir
