// The authority over a real Redis Cluster, while slots move and masters die. What was executed is
// counted by what the cluster holds.
#include "tests/redis_cluster.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "authority/redis_authority.h"
#include "authority/redis_script.h"
#include "authority/redis_slots.h"
#include "authority/terms.h"
#include "net/loop.h"

namespace weir::authority {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class RedisClusterConcurrentTest : public testing::Test, public Replies {
 protected:
  static constexpr int kKeys = 60;

  RedisClusterConcurrentTest() {
    for (int i = 0; i < kKeys; ++i) keys_.push_back("key" + std::to_string(i));
    // No more than docs/redis.md asks for.
    for (const net::Endpoint& node : cluster_.endpoints()) {
      AskRedis(node, {"ACL", "SETUSER", "limiter", "on", ">secret", "resetkeys", "~weir:*", "-@all",
                      "+hello", "+evalsha", "+script|load", "+get", "+set", "+time",
                      "+cluster|slots", "+asking"});
    }
    options_.connection.login = {.user = "limiter", .password = "secret", .database = 0};
    options_.kind = RedisKind::kCluster;
    options_.endpoints = {cluster_.endpoints().front()};  // the others are found
    options_.connection.connect_patience = seconds(5);
    options_.connection.reconnect = {.first = milliseconds(5), .longest = milliseconds(50)};
    loop_.Turn(Nanos(0));  // it reads the clock: the cluster took its time to start
    authority_ = std::make_unique<RedisAuthority>(loop_, options_);
  }
  void OnReply(Ticket ticket, const SyncReply& reply) override {
    const std::string& key = asked_[ticket];
    ++answered_;
    counts_[key][static_cast<int>(reply.outcome)] += 1;
    all_done_ = all_done_ && reply.outcome == Outcome::kDone;
  }

  // Takes one permit of each key and waits for the answers. Whether all were executed.
  bool TakeAll() {
    Send();
    return Settle();
  }
  void Send() {
    std::vector<SyncRequest> requests;
    for (const std::string& key : keys_) {
      requests.push_back({.ticket = asked_.size(), .key = key, .terms = &terms_, .take = 1});
      asked_.push_back(key);
    }
    all_done_ = true;
    authority_->Sync(requests, *this);
  }
  bool Settle() {
    const auto until = std::chrono::steady_clock::now() + seconds(20);
    while (answered_ < asked_.size() && std::chrono::steady_clock::now() < until) {
      loop_.Turn(milliseconds(10));
    }
    EXPECT_EQ(answered_, asked_.size()) << authority_->problem();
    return all_done_;
  }
  // Of each key, at least what was done is counted, and at most what may have been.
  void ExpectNothingLostNorCountedTwice() {
    for (const std::string& key : keys_) {
      const std::string name = "weir:" + key;
      const std::optional<Account> account = ReadAccount(cluster_.Ask(name, {"GET", name}));
      ASSERT_TRUE(account) << key;
      const std::uint64_t taken =
          (account->used + terms_.ticks_per_permit - 1) / terms_.ticks_per_permit;
      const std::uint64_t done = counts_[key][static_cast<int>(Outcome::kDone)];
      EXPECT_GE(taken, done) << key;
      EXPECT_LE(taken, done + counts_[key][static_cast<int>(Outcome::kUnknown)]) << key;
      EXPECT_GT(std::stol(cluster_.Ask(name, {"PTTL", name})), 0) << key;
    }
  }

  RedisCluster cluster_;
  net::Loop loop_;
  RedisOptions options_;
  // So slow that nothing flows back while a test runs: what was taken can be counted.
  Terms terms_ = Terms::Of(Quota::Per(1, std::chrono::hours(24)).Burst(5000)).value();
  std::vector<std::string> keys_;
  std::vector<std::string> asked_;  // by ticket
  std::size_t answered_ = 0;
  std::map<std::string, std::map<int, std::uint64_t>> counts_;
  bool all_done_ = true;
  std::unique_ptr<RedisAuthority> authority_;
};

TEST_F(RedisClusterConcurrentTest, EveryRequestIsDoneWhileSlotsMove) {
  ASSERT_TRUE(TakeAll()) << authority_->problem();
  for (int i = 0; i < 20; ++i) {
    const std::string name = "weir:" + keys_[i];
    const std::uint16_t number = SlotOf(name);
    const std::string slot = std::to_string(number);
    RedisServer& from = cluster_.MasterOf(number);
    RedisServer& to = cluster_.OtherThan(from);
    const std::string from_id = from.Ask({"CLUSTER", "MYID"});
    const std::string to_id = to.Ask({"CLUSTER", "MYID"});
    ASSERT_EQ(to.Ask({"CLUSTER", "SETSLOT", slot, "IMPORTING", from_id}), "OK");
    ASSERT_EQ(from.Ask({"CLUSTER", "SETSLOT", slot, "MIGRATING", to_id}), "OK");
    EXPECT_TRUE(TakeAll()) << "is still there: " << authority_->problem();
    ASSERT_EQ(
        from.Ask({"MIGRATE", "127.0.0.1", std::to_string(to.endpoint().port), name, "0", "5000"}),
        "OK");
    if (i % 3 == 0) to.Ask({"SCRIPT", "FLUSH"});
    EXPECT_TRUE(TakeAll()) << "has gone ahead (ASK): " << authority_->problem();
    cluster_.EndMove(number, from, to);
    EXPECT_TRUE(TakeAll()) << "has moved (MOVED): " << authority_->problem();
  }
  EXPECT_GE(authority_->counts().asked, 20U);
  EXPECT_GE(authority_->counts().moved, 20U);
  ExpectNothingLostNorCountedTwice();
}

TEST_F(RedisClusterConcurrentTest, AMasterThatDiesIsReplacedAndNothingIsCountedTwice) {
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(TakeAll()) << authority_->problem();
  cluster_.AwaitReplicas();  // what Redis loses with a master is another matter

  const std::uint16_t slot = SlotOf("weir:" + keys_[0]);
  RedisServer& dead = cluster_.MasterOf(slot);
  dead.Kill();
  Send();
  EXPECT_FALSE(Settle());
  EXPECT_NE(authority_->problem(), "");
  // Keys of a dead master are not done at once; nobody waits for it.
  bool recovered = false;
  const auto begin = std::chrono::steady_clock::now();
  while (!recovered && std::chrono::steady_clock::now() < begin + seconds(30)) {
    recovered = TakeAll();
    for (int i = 0; i < 5; ++i) loop_.Turn(milliseconds(20));
  }
  EXPECT_TRUE(recovered) << authority_->problem();
  const auto took = std::chrono::steady_clock::now() - begin;
  RecordProperty("recovered_after_ms",
                 static_cast<int>(std::chrono::ceil<milliseconds>(took).count()));
  EXPECT_TRUE(TakeAll());
  EXPECT_NE(&cluster_.MasterOf(slot), &dead);

  // It comes back as a replica, and nobody mistakes it for what it was.
  dead.Start();
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(TakeAll()) << authority_->problem();
  ExpectNothingLostNorCountedTwice();
}

}  // namespace
}  // namespace weir::authority
