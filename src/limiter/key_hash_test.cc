// Who knows how keys are hashed can send many that fall together. Nobody does: each table has a
// seed of its own.
#include "limiter/key_hash.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "weir/keyed_limiter.h"

namespace weir {
namespace {

TEST(KeyHashTest, EachTableHashesTheSameKeysInItsOwnWay) {
  const KeyedLimiter one(Quota::PerSecond(1), {.max_keys = 1000});
  const KeyedLimiter other(Quota::PerSecond(1), {.max_keys = 1000});
  // The lowest ten bits, as a table of a thousand places might use them: keys chosen to fall
  // together in one table are all over the other.
  std::set<std::uint64_t> places;
  int chosen = 0;
  for (int i = 0; chosen < 100; ++i) {
    const std::string key = "user:" + std::to_string(i);
    if ((one.Hash(key).low & 1023) != 0) continue;
    ++chosen;
    places.insert(other.Hash(key).low & 1023);
  }
  EXPECT_GT(places.size(), 50U);
}

TEST(KeyHashTest, OneTableHashesAKeyAlwaysAlike) {
  const KeyedLimiter one(Quota::PerSecond(1), {.max_keys = 1000});
  EXPECT_EQ(one.Hash("ann").low, one.Hash("ann").low);
  EXPECT_EQ(one.Hash("ann").high, one.Hash("ann").high);
  EXPECT_NE(one.Hash("ann").low, one.Hash("bob").low);
  EXPECT_NE(HashKey("ann", 1).low, HashKey("ann", 2).low);
}

}  // namespace
}  // namespace weir
