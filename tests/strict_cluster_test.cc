// Strict hosts over a real Redis Cluster: keys of one request in different slots, and slots that
// move.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "authority/redis_slots.h"
#include "authority/strict_host.h"
#include "tests/redis_cluster.h"
#include "tests/strict_redis.h"

namespace weir::authority {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class StrictClusterConcurrentTest : public testing::Test {
 protected:
  StrictClusterConcurrentTest() {
    redis_options_.kind = RedisKind::kCluster;
    redis_options_.endpoints = {cluster_.endpoints().front()};
    redis_options_.connection.connect_patience = seconds(20);
    redis_options_.connection.patience = seconds(20);
    loop_.Turn(Nanos(0));  // it reads the clock: the cluster took its time to start
  }

  std::unique_ptr<RedisSite> MakeSite() {
    StrictHostOptions options;
    options.deadline = seconds(20);
    return std::make_unique<RedisSite>(loop_, redis_options_, options, now_);
  }
  // A key of that slot's master: each has a third of the slots, but for the odd one.
  static std::string KeyOf(std::uint16_t slot) {
    constexpr std::size_t kThird = kRedisSlots / 3 + 1;
    for (int i = 0;; ++i) {
      std::string key = "key" + std::to_string(i);
      if (SlotOf("weir:state:" + key) / kThird == slot / kThird) return key;
    }
  }
  // Asks by one that knows nothing.
  std::uint64_t Left(const StrictLimit& limit, const std::string& key) {
    return MakeSite()->Peek(limit, key).remaining.count;
  }

  RedisCluster cluster_;
  net::Loop loop_;
  Instant now_ = Clock::now();
  RedisOptions redis_options_;
};

TEST_F(StrictClusterConcurrentTest, ARefusalInOneSlotGivesBackWhatWasTakenInOthers) {
  const StrictLimit wide = LimitOf("fixed_window 10/24h");
  const StrictLimit middle = LimitOf("sliding_window 5/24h");
  const StrictLimit narrow = LimitOf("sliding_log 1/24h");
  const auto site = MakeSite();
  const std::string global = KeyOf(100);
  const std::string tenant = KeyOf(8'000);
  const std::string user = KeyOf(16'000);
  const std::vector<StrictAsk> asks = {{.limit = &wide, .key = global},
                                       {.limit = &middle, .key = tenant},
                                       {.limit = &narrow, .key = user}};
  // The test is worth something: they are on three nodes.
  for (const int slot : {8'000, 16'000}) {
    EXPECT_NE(&cluster_.MasterOf(SlotOf("weir:state:" + KeyOf(static_cast<std::uint16_t>(slot)))),
              &cluster_.MasterOf(SlotOf("weir:state:" + global)));
  }
  for (const Decision& decision : site->TakeAll(asks)) EXPECT_TRUE(decision);
  EXPECT_EQ(Left(wide, global), 9U);
  // One that knows nothing takes in two places, is refused in the third, and gives back.
  const auto other = MakeSite();
  const std::vector<Decision> refused = other->TakeAll(asks);
  EXPECT_TRUE(refused[0]);
  EXPECT_EQ(refused[0].remaining, Permits{9});
  EXPECT_TRUE(refused[1]);
  EXPECT_FALSE(refused[2]);
  other->Finish();
  EXPECT_EQ(other->counts().lost_corrections, 0U);
  EXPECT_EQ(Left(wide, global), 9U);
  EXPECT_EQ(Left(middle, tenant), 4U);
  EXPECT_EQ(Left(narrow, user), 0U);
  for (const StrictAsk& ask : asks) {
    const std::string name = "weir:state:" + std::string(ask.key);
    EXPECT_GT(std::stol(cluster_.Ask(name, {"PTTL", name})), 0) << name;
  }
}

TEST_F(StrictClusterConcurrentTest, KeysWithOneHashTagAreOneRoundTrip) {
  const StrictLimit wide = LimitOf("fixed_window 10/24h");
  const StrictLimit narrow = LimitOf("sliding_log 1/24h");
  const auto site = MakeSite();
  const std::vector<StrictAsk> asks = {{.limit = &wide, .key = "{acme}:all"},
                                       {.limit = &narrow, .key = "{acme}:user:9"}};
  site->Take(wide, "{acme}:all");  // learns the time
  const std::uint64_t before = site->counts().swaps;
  EXPECT_TRUE(site->TakeAll(asks)[1]);
  EXPECT_EQ(site->counts().swaps, before + 1);
}

TEST_F(StrictClusterConcurrentTest, ASlotThatMovesIsFollowed) {
  const StrictLimit limit = LimitOf("fixed_window 100/24h");
  const auto site = MakeSite();
  ASSERT_TRUE(site->Take(limit, "a"));
  const std::string name = "weir:state:a";
  const std::uint16_t number = SlotOf(name);
  const std::string slot = std::to_string(number);
  RedisServer& from = cluster_.MasterOf(number);
  RedisServer& to = cluster_.OtherThan(from);
  const std::string from_id = from.Ask({"CLUSTER", "MYID"});
  const std::string to_id = to.Ask({"CLUSTER", "MYID"});
  ASSERT_EQ(to.Ask({"CLUSTER", "SETSLOT", slot, "IMPORTING", from_id}), "OK");
  ASSERT_EQ(from.Ask({"CLUSTER", "SETSLOT", slot, "MIGRATING", to_id}), "OK");
  EXPECT_TRUE(site->Take(limit, "a")) << "is still there";
  ASSERT_EQ(
      from.Ask({"MIGRATE", "127.0.0.1", std::to_string(to.endpoint().port), name, "0", "5000"}),
      "OK");
  EXPECT_TRUE(site->Take(limit, "a")) << "has gone ahead (ASK)";
  cluster_.EndMove(number, from, to);
  EXPECT_TRUE(site->Take(limit, "a")) << "has moved (MOVED)";
  EXPECT_GE(site->calls().counts().asked, 1U);
  EXPECT_GE(site->calls().counts().moved, 1U);
  EXPECT_EQ(site->counts().fallen, 0U);
  EXPECT_EQ(Left(limit, "a"), 96U);
}

}  // namespace
}  // namespace weir::authority
