// The authority over a real Redis, in good times and bad ones. What was executed is counted by what
// Redis holds.
#include "authority/redis_authority.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "authority/redis_script.h"
#include "authority/terms.h"
#include "net/loop.h"
#include "tests/redis_server.h"

namespace weir::authority {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// So slow that nothing flows back while a test runs: what was taken can be counted.
Terms SlowTerms(std::uint64_t burst) {
  return Terms::Of(Quota::Per(1, std::chrono::hours(24)).Burst(burst)).value();
}

class RedisAuthorityConcurrentTest : public testing::Test, public Replies {
 protected:
  void OnReply(Ticket ticket, const SyncReply& reply) override {
    EXPECT_TRUE(replies_.emplace(ticket, reply).second) << ticket << " was answered twice";
  }

  void Connect() {
    options_.endpoints = {redis_.endpoint()};
    options_.connection.connect_patience = seconds(5);
    options_.connection.reconnect = {.first = milliseconds(5), .longest = milliseconds(20)};
    authority_ = std::make_unique<RedisAuthority>(loop_, options_);
  }
  // Takes one permit of each of these keys; returns the ticket of the first.
  Ticket TakeAll(const std::vector<std::string>& keys) {
    std::vector<SyncRequest> requests;
    const Ticket first = next_;
    for (const std::string& key : keys) {
      requests.push_back({.ticket = next_++, .key = key, .terms = &terms_, .take = 1});
    }
    authority_->Sync(requests, *this);
    return first;
  }
  Ticket Take(const std::string& key) { return TakeAll({key}); }
  // Turns the loop until everything is answered.
  void Settle() {
    const auto until = std::chrono::steady_clock::now() + seconds(20);
    while (replies_.size() < next_ && std::chrono::steady_clock::now() < until) {
      loop_.Turn(milliseconds(10));
    }
    ASSERT_EQ(replies_.size(), next_) << authority_->problem();
  }
  Outcome TakeOne(const std::string& key) {
    const Ticket ticket = Take(key);
    Settle();
    return replies_[ticket].outcome;
  }
  // Asks until it is answered by Redis again.
  void Recover() {
    for (int tries = 0; tries < 500; ++tries) {
      if (TakeOne("recovery") == Outcome::kDone) return;
      loop_.Turn(milliseconds(10));
    }
    FAIL() << authority_->problem();
  }
  int Count(Outcome outcome) {
    int count = 0;
    for (const auto& [ticket, reply] : replies_) count += reply.outcome == outcome;
    return count;
  }
  // Permits that were taken of a key, as Redis has them.
  std::uint64_t Taken(const std::string& key) {
    const std::optional<Account> account = ReadAccount(redis_.Ask({"GET", "weir:" + key}));
    return account ? CeilDiv(account->used, terms_.ticks_per_permit) : 0;
  }
  void ExpectEveryKeyToHaveATtl() {
    const std::string script =
        "local n = 0 for _, k in ipairs(redis.call('KEYS', '*')) do "
        "if redis.call('PTTL', k) < 0 then n = n + 1 end end return n";
    EXPECT_EQ(redis_.Ask({"EVAL", script, "0"}), "0");
    EXPECT_NE(redis_.Ask({"DBSIZE"}), "0");
  }
  static std::uint64_t CeilDiv(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

  RedisServer redis_;
  net::Loop loop_;
  RedisOptions options_;
  Terms terms_ = SlowTerms(1000);
  std::map<Ticket, SyncReply> replies_;
  Ticket next_ = 0;
  std::unique_ptr<RedisAuthority> authority_;
};

TEST_F(RedisAuthorityConcurrentTest, TakesUntilTheBucketIsEmptyAndSaysForHowLong) {
  terms_ = SlowTerms(3);
  Connect();
  const Ticket first = TakeAll({"a", "a", "a", "a", "b"});
  Settle();
  EXPECT_TRUE(replies_[first].taken);
  EXPECT_EQ(replies_[first].tokens, 2);
  EXPECT_TRUE(replies_[first + 2].taken);
  EXPECT_FALSE(replies_[first + 3].taken);
  EXPECT_GT(replies_[first + 3].deny_for, std::chrono::hours(23));
  EXPECT_LE(replies_[first + 3].deny_for, std::chrono::hours(24));
  EXPECT_EQ(replies_[first + 4].tokens, 2);
  ExpectEveryKeyToHaveATtl();
}

TEST_F(RedisAuthorityConcurrentTest, TwoHostsShareWhatIsThere) {
  terms_ = SlowTerms(3);
  Connect();
  ASSERT_EQ(TakeOne("a"), Outcome::kDone);
  const std::unique_ptr<RedisAuthority> other = std::move(authority_);
  Connect();
  const Ticket ticket = Take("a");
  Settle();
  EXPECT_EQ(replies_[ticket].tokens, 1);
}

TEST_F(RedisAuthorityConcurrentTest, AScriptThatRedisForgotIsToldAgainAndEachCommandRunsOnce) {
  Connect();
  ASSERT_EQ(TakeOne("a"), Outcome::kDone);
  for (int round = 0; round < 5; ++round) {
    EXPECT_EQ(redis_.Ask({"SCRIPT", "FLUSH"}), "OK");
    TakeAll(std::vector<std::string>(50, "a"));
    Settle();
  }
  EXPECT_EQ(Count(Outcome::kDone), 251);
  EXPECT_GE(authority_->counts().scripts, 250U);  // else there was nothing to repair
  EXPECT_EQ(Taken("a"), 251U);
}

TEST_F(RedisAuthorityConcurrentTest, WhatAPausedRedisWasSentIsUnknownAndNeverSentAgain) {
  options_.connection.patience = milliseconds(500);
  Connect();
  ASSERT_EQ(TakeOne("a"), Outcome::kDone);
  redis_.Pause();
  TakeAll(std::vector<std::string>(20, "a"));
  Settle();
  EXPECT_EQ(Count(Outcome::kUnknown), 20);
  TakeAll(std::vector<std::string>(20, "a"));  // known to be away
  Settle();
  EXPECT_EQ(Count(Outcome::kNotDone), 20);
  redis_.Continue();
  Recover();
  // It has executed what it had got when it went on, once: neither more nor less.
  EXPECT_EQ(Taken("a"), 21U);
  ExpectEveryKeyToHaveATtl();
}

TEST_F(RedisAuthorityConcurrentTest, AKilledRedisIsFoundAgainWhenItIsBack) {
  Connect();
  ASSERT_EQ(TakeOne("a"), Outcome::kDone);
  redis_.Kill();
  TakeAll(std::vector<std::string>(20, "a"));
  Settle();
  EXPECT_EQ(Count(Outcome::kDone), 1);
  EXPECT_EQ(TakeOne("a"), Outcome::kNotDone);
  EXPECT_NE(authority_->problem().find(redis_.endpoint().ToString()), std::string::npos);
  redis_.Start();
  Recover();
  EXPECT_EQ(Taken("a"), 0U);  // nothing was sent again
  EXPECT_EQ(TakeOne("a"), Outcome::kDone);
  EXPECT_EQ(Taken("a"), 1U);
}

TEST_F(RedisAuthorityConcurrentTest, AnswersThatGetLostAreUnknownAndCountOnce) {
  Connect();
  ASSERT_EQ(TakeOne("a"), Outcome::kDone);
  std::uint64_t sent = 1;
  for (int round = 0; round < 20; ++round) {
    TakeAll(std::vector<std::string>(10, "a"));
    for (int turn = 0; turn < round % 4; ++turn) loop_.Turn(Nanos(0));
    redis_.Ask({"CLIENT", "KILL", "TYPE", "normal"});
    Settle();
    sent += 10;
    Recover();
  }
  const auto done = static_cast<std::uint64_t>(Count(Outcome::kDone));
  const std::uint64_t recovered = Taken("recovery");
  EXPECT_GE(Taken("a") + recovered, done);
  EXPECT_LE(Taken("a") + recovered, done + static_cast<std::uint64_t>(Count(Outcome::kUnknown)));
  EXPECT_LE(Taken("a"), sent);
}

TEST_F(RedisAuthorityConcurrentTest, ARedisThatMayNotWriteLeavesNothingDone) {
  Connect();
  ASSERT_EQ(TakeOne("a"), Outcome::kDone);
  redis_.Ask({"CONFIG", "SET", "min-replicas-to-write", "1"});
  EXPECT_EQ(TakeOne("a"), Outcome::kNotDone);
  EXPECT_NE(authority_->problem().find("NOREPLICAS"), std::string::npos) << authority_->problem();
  redis_.Ask({"CONFIG", "SET", "min-replicas-to-write", "0"});
  redis_.Ask({"CONFIG", "SET", "maxmemory", "1"});
  EXPECT_EQ(TakeOne("a"), Outcome::kNotDone);
  EXPECT_NE(authority_->problem().find("OOM"), std::string::npos) << authority_->problem();
  redis_.Ask({"CONFIG", "SET", "maxmemory", "0"});
  EXPECT_EQ(TakeOne("a"), Outcome::kDone);
  EXPECT_EQ(Taken("a"), 2U);
}

TEST_F(RedisAuthorityConcurrentTest, AUserNeedsNoMoreThanTheDocumentedRules) {
  EXPECT_EQ(redis_.Ask({"ACL", "SETUSER", "limiter", "on", ">secret", "resetkeys", "~weir:*",
                        "-@all", "+hello", "+evalsha", "+script|load", "+get", "+set", "+time"}),
            "OK");
  options_.connection.login = {.user = "limiter", .password = "secret", .database = 0};
  Connect();
  EXPECT_EQ(TakeOne("a"), Outcome::kDone) << authority_->problem();
  redis_.Ask({"SCRIPT", "FLUSH"});
  EXPECT_EQ(TakeOne("a"), Outcome::kDone) << authority_->problem();
  redis_.Ask({"ACL", "SETUSER", "limiter", "-time"});
  EXPECT_EQ(TakeOne("a"), Outcome::kNotDone);
}

TEST_F(RedisAuthorityConcurrentTest, ClocksOfTheHostsCanBeChosen) {
  std::uint64_t now = 5'000'000'000;
  terms_ = Terms::Of(Quota::PerSecond(1)).value();
  options_.clock = [&now] { return now; };
  Connect();
  TakeAll({"a", "a"});
  Settle();
  EXPECT_TRUE(replies_[0].taken);
  EXPECT_FALSE(replies_[1].taken);
  EXPECT_EQ(replies_[1].deny_for, Micros(1'000'000));
  now += 1'000'000;
  Take("a");
  Settle();
  EXPECT_TRUE(replies_[2].taken);
}

TEST_F(RedisAuthorityConcurrentTest, ItsEndAnswersEverything) {
  Connect();
  ASSERT_EQ(TakeOne("a"), Outcome::kDone);
  TakeAll({"a", "b"});
  authority_.reset();
  EXPECT_EQ(replies_.size(), 3U);
  EXPECT_EQ(Count(Outcome::kNotDone), 2);
}

}  // namespace
}  // namespace weir::authority
