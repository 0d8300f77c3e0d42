#include "algorithm/bucket.h"

#include <gtest/gtest.h>

#include <random>

namespace weir::algorithm {
namespace {

TEST(BucketTest, KnowsWhichOnesArePlain) {
  const auto is_plain = [](const auto& limit, std::uint32_t soft = 0) {
    return Bucket::Make(limit, soft).value().is_plain();
  };
  EXPECT_TRUE(is_plain(weir::TokenBucket{Quota::PerSecond(100).Burst(7)}));
  EXPECT_TRUE(is_plain(weir::LeakyBucket{Quota::PerSecond(100)}));
  EXPECT_FALSE(is_plain(weir::TokenBucket{Quota::PerSecond(3)})) << "a third of a nanosecond";
  EXPECT_FALSE(is_plain(weir::TokenBucket{Quota::PerSecond(100).Initial(0)}));
  EXPECT_FALSE(is_plain(weir::TokenBucket{Quota::PerSecond(100)}, 10)) << "soft";
  EXPECT_FALSE(is_plain(weir::LeakyBucket{Quota::PerSecond(100), Permits{5}})) << "a queue";
}

TEST(PlainBucketTest, DoesWhatABucketDoesToTheLetter) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 2'000; ++round) {
    // Permits of a whole number of nanoseconds, from one to a year's.
    const auto interval = static_cast<std::int64_t>(1 + random() % (1ULL << random() % 55));
    const std::uint64_t burst = 1 + random() % (1ULL << random() % 7);
    const Bucket bucket =
        Bucket::Make(weir::TokenBucket{Quota::Per(1, Nanos(interval)).Burst(burst)}, 0).value();
    ASSERT_TRUE(bucket.is_plain());
    const PlainBucket plain(bucket);
    std::uint64_t word = 0;
    std::uint64_t plain_word = 0;
    std::uint64_t now = random() % 2 == 0 ? 0 : random() >> 3;
    for (int step = 0; step < 50; ++step) {
      now += random() % 3 == 0 ? 0 : random() % (2 * static_cast<std::uint64_t>(interval));
      const Permits cost{random() % 10 == 0 ? random() : random() % (burst + 2)};
      const Instant at = ToInstant(now);
      if (random() % 10 == 0) {
        bucket.Charge(word, cost, at);
        plain_word = word;
      }
      const Decision expected = bucket.Admit(word, cost, at);
      const Decision got = plain.Tell(plain.Try(plain_word, cost, plain.TickAt(at)), cost);
      ASSERT_TRUE(expected == got)
          << interval << "ns, burst " << burst << ", cost " << cost.count << " at " << now;
      ASSERT_EQ(word, plain_word);
    }
  }
}

}  // namespace
}  // namespace weir::algorithm
