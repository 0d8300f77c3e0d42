// The lane decides what the general path decides, to the letter. An elastic limiter whose load
// signal never says that there is room takes the general path, and answers like one without a
// signal.
#include "limiter/lane.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#include "weir/weir.h"

namespace weir {
namespace {

constexpr std::uint64_t kCrowdedLine = 0x7000'0000'0000'0000;

// Keys of one line, more than it has room for, and some that a glance cannot tell apart; keys
// without a print of their own; and keys anywhere.
std::vector<KeyHash> MakeKeys() {
  std::vector<KeyHash> keys;
  for (std::uint64_t i = 0; i < 6; ++i) keys.push_back({kCrowdedLine, (i / 2 + 1) << 40 | i << 16});
  for (const std::uint64_t high : {0x0ULL, 0xFFFFULL, 0x1'0000ULL}) {
    keys.push_back({kCrowdedLine, high});
    keys.push_back({~kCrowdedLine, high});
  }
  std::mt19937_64 random(2);
  while (keys.size() < 40) keys.push_back({random(), random()});
  return keys;
}

class LaneTest : public testing::Test {
 protected:
  explicit LaneTest(const Limit& first = Quota::PerSecond(1000).Burst(10))
      : lane_(first, {.max_keys = 1000}),
        general_(first, {.max_keys = 1000, .has_room = [] { return false; }}) {}

  void TakeFromBoth(KeyHash key, Permits cost, Instant now) {
    const Decision got = lane_.Take(key, cost, now);
    const Decision expected = general_.Take(key, cost, now);
    ASSERT_TRUE(got == expected) << "cost " << cost.count << " at "
                                 << now.time_since_epoch().count() << "ns: verdict "
                                 << int(got.verdict) << ", not " << int(expected.verdict)
                                 << "; remaining " << got.remaining.count << ", not "
                                 << expected.remaining.count << "; reset "
                                 << got.reset_after.count() << "ns, not "
                                 << expected.reset_after.count() << "ns";
  }
  void TakeFromBoth(std::span<const HashedAsk> asks, Instant now) {
    std::vector<Decision> got(asks.size());
    lane_.Take(asks, got, now);
    for (std::size_t i = 0; i < asks.size(); ++i) {
      ASSERT_TRUE(got[i] == general_.Take(asks[i].key, asks[i].cost, now))
          << i << " of a batch of " << asks.size();
    }
  }
  void SetBoth(const Limit& limit, Instant now) {
    ASSERT_TRUE(lane_.SetLimit(limit, now));
    ASSERT_TRUE(general_.SetLimit(limit, now));
  }

  const std::vector<KeyHash> keys_ = MakeKeys();
  KeyedLimiter lane_;
  KeyedLimiter general_;
};

TEST_F(LaneTest, DecidesWhatTheGeneralPathDecides) {
  const std::array<Limit, 6> limits = {
      Quota::PerSecond(1000).Burst(10),         Quota::PerSecond(3).Burst(5),  // not plain
      Quota::Per(1, Nanos(1)).Burst(1'000'000), Quota::PerHour(20),
      Quota::Per(1, Nanos(1LL << 60)).Burst(2),  // still open
      Quota::Per(1, Nanos(1LL << 62)).Burst(1),  // durations that come to their end
  };
  std::mt19937_64 random(3);
  std::int64_t now = 1'000'000'000;
  for (int step = 0; step < 200'000; ++step) {
    switch (random() % 64) {
      case 0:
        now -= static_cast<std::int64_t>(random() % 20'000'000);  // a clock that is a little behind
        break;
      case 1:
        now += static_cast<std::int64_t>(random() % 1'000'000'000);
        break;
      case 2:  // a clock that was set back, even to before there were any
        if (random() % 64 == 0) now = static_cast<std::int64_t>(random() % 2'000'000) - 1'000'000;
        break;
      case 3:
        if (random() % 16 == 0) SetBoth(limits[random() % limits.size()], Instant(Nanos(now)));
        break;
      default:
        if (random() % 4 == 0) now += static_cast<std::int64_t>(random() % 1'000'000);
    }
    const Permits cost{random() % 20 == 0 ? random() : random() % 12};
    ASSERT_NO_FATAL_FAILURE(
        TakeFromBoth(keys_[random() % keys_.size()], cost, Instant(Nanos(now))));
    if (random() % 32 == 0) {
      std::vector<HashedAsk> asks(random() % 100);
      for (HashedAsk& ask : asks) {
        ask = {keys_[random() % keys_.size()], Permits{random() % 8 == 0 ? random() % 15 : 1}};
      }
      ASSERT_NO_FATAL_FAILURE(TakeFromBoth(asks, Instant(Nanos(now))));
    }
  }
}

TEST_F(LaneTest, KnowsKeysApartThatAGlanceTakesForOne) {
  const Instant now(std::chrono::seconds(1));
  const KeyHash one{kCrowdedLine, 0x1234'5678'0001'0000};
  const KeyHash other{kCrowdedLine, 0x1234'5678'0002'0000};
  EXPECT_EQ(lane_.Take(one, Permits{7}, now).remaining, Permits{3});
  EXPECT_EQ(lane_.Take(other, Permits{1}, now).remaining, Permits{9});
  EXPECT_EQ(lane_.Take(one, Permits{1}, now).remaining, Permits{2});
  EXPECT_EQ(lane_.Take(other, Permits{1}, now).remaining, Permits{8});
}

TEST_F(LaneTest, ACallerWhoIsBehindIsToldDurationsByHisOwnClock) {
  const Instant now(std::chrono::seconds(1));
  const KeyHash key = keys_[0];
  lane_.Take(key, Permits{9}, now);
  const Decision late = lane_.Take(key, Permits{1}, now - Nanos(5));
  EXPECT_EQ(late.reset_after, std::chrono::milliseconds(10) + Nanos(5));
  const Decision refused = lane_.Take(key, Permits{1}, now - Nanos(7));
  EXPECT_EQ(refused.retry_after, std::chrono::milliseconds(1) + Nanos(7));
  EXPECT_EQ(refused.reset_after, std::chrono::milliseconds(10) + Nanos(7));
}

TEST_F(LaneTest, TheFirstAndTheLastInstantThereIsAreInstants) {
  for (const Instant now : {Instant::min(), Instant(Nanos(-1)), Instant(), Instant::max(),
                            Instant::min(), Instant::max() - Nanos(1)}) {
    for (const KeyHash& key : keys_) {
      ASSERT_NO_FATAL_FAILURE(TakeFromBoth(key, Permits{4}, now));
      ASSERT_NO_FATAL_FAILURE(TakeFromBoth(key, Permits{4}, now));
    }
  }
}

TEST_F(LaneTest, ALimitCountsFromTheMomentItIsSet) {
  const Instant now(std::chrono::seconds(1));
  const KeyHash key = keys_[0];
  EXPECT_EQ(lane_.Take(key, Permits{1}, now).remaining, Permits{9});
  ASSERT_TRUE(lane_.SetLimit(Quota::PerSecond(3).Burst(5), now)) << "beside the lane";
  EXPECT_EQ(lane_.Take(key, Permits{1}, now).remaining, Permits{3});
  ASSERT_TRUE(lane_.SetLimit(Quota::PerSecond(1000).Burst(20), now)) << "and back";
  EXPECT_EQ(lane_.Take(key, Permits{1}, now).remaining, Permits{17});
}

}  // namespace
}  // namespace weir
