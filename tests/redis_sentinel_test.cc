// The authority over the master that real Sentinels name, when that dies.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "authority/redis_authority.h"
#include "authority/terms.h"
#include "net/loop.h"
#include "tests/redis_server.h"

namespace weir::authority {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class RedisSentinelConcurrentTest : public testing::Test, public Replies {
 protected:
  static std::vector<std::string> ReplicaOf(const RedisServer& master) {
    return {"--replicaof", "127.0.0.1", std::to_string(master.endpoint().port)};
  }
  template <typename Holds>
  static bool Await(Holds holds) {
    for (int tries = 0; tries < 1500; ++tries) {
      if (holds()) return true;
      std::this_thread::sleep_for(milliseconds(20));
    }
    return false;
  }

  void SetUp() override {
    ASSERT_TRUE(Await([&] {
      return replica_.Ask({"INFO", "replication"}).find("master_link_status:up") !=
             std::string::npos;
    }));
    const std::string port = std::to_string(master_.endpoint().port);
    ASSERT_EQ(sentinel_.Ask({"SENTINEL", "MONITOR", "limits", "127.0.0.1", port, "1"}), "OK");
    sentinel_.Ask({"SENTINEL", "SET", "limits", "down-after-milliseconds", "500"});
    sentinel_.Ask({"SENTINEL", "SET", "limits", "failover-timeout", "3000"});
    ASSERT_TRUE(Await([&] { return !sentinel_.Ask({"SENTINEL", "REPLICAS", "limits"}).empty(); }));
    options_.kind = RedisKind::kSentinels;
    options_.endpoints = {sentinel_.endpoint()};
    options_.master_name = "limits";
    options_.connection.connect_patience = seconds(5);
    options_.connection.reconnect = {.first = milliseconds(5), .longest = milliseconds(50)};
    loop_.Turn(Nanos(0));  // it reads the clock
  }
  void OnReply(Ticket /*ticket*/, const SyncReply& reply) override {
    ++answered_;
    last_ = reply;
  }

  bool TakeOne() {
    const SyncRequest request{.ticket = 1, .key = "a", .terms = &terms_, .take = 1};
    const int before = answered_;
    authority_->Sync({&request, 1}, *this);
    for (int i = 0; i < 2000 && answered_ == before; ++i) loop_.Turn(milliseconds(10));
    EXPECT_EQ(answered_, before + 1);
    return last_.outcome == Outcome::kDone;
  }
  bool Recover() {
    const auto until = std::chrono::steady_clock::now() + seconds(40);
    while (std::chrono::steady_clock::now() < until) {
      if (TakeOne()) return true;
      loop_.Turn(milliseconds(20));
    }
    return false;
  }

  RedisServer master_{{"--repl-diskless-sync-delay", "0"}};
  RedisServer replica_{ReplicaOf(master_)};
  RedisServer sentinel_{{"--sentinel"}};
  net::Loop loop_;
  RedisOptions options_;
  Terms terms_ = Terms::Of(Quota::Per(1, std::chrono::hours(24)).Burst(1000)).value();
  int answered_ = 0;
  SyncReply last_;
  std::unique_ptr<RedisAuthority> authority_;
};

TEST_F(RedisSentinelConcurrentTest, TheMasterThatTheyNameIsAskedAndThenTheOneThatReplacesIt) {
  authority_ = std::make_unique<RedisAuthority>(loop_, options_);
  ASSERT_TRUE(Recover()) << authority_->problem();
  EXPECT_NE(master_.Ask({"GET", "weir:a"}), "(null)");
  master_.Kill();
  EXPECT_FALSE(TakeOne());
  EXPECT_TRUE(Recover()) << authority_->problem();
  EXPECT_NE(replica_.Ask({"GET", "weir:a"}), "(null)");
  EXPECT_NE(replica_.Ask({"INFO", "replication"}).find("role:master"), std::string::npos);
  EXPECT_GE(authority_->counts().maps, 2U);
}

TEST_F(RedisSentinelConcurrentTest, AMasterThatTheyDoNotKnowIsSaid) {
  options_.master_name = "other";
  authority_ = std::make_unique<RedisAuthority>(loop_, options_);
  for (int i = 0; i < 2000 && authority_->problem().empty(); ++i) loop_.Turn(milliseconds(10));
  EXPECT_NE(authority_->problem().find("knows no master 'other'"), std::string::npos)
      << authority_->problem();
  EXPECT_FALSE(TakeOne());
}

}  // namespace
}  // namespace weir::authority
