// Who is measured by cluster_bench.cc: a host of a cluster, a counter in Redis that expires, and a
// script that does nothing.
//
// All are asked in the same way, by a loop on the same thread: Ask() some questions, as many of
// them as may wait; turn the loop; Exchange(). Anything but an answer of Redis ends the benchmark.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "authority/host.h"
#include "authority/redis_authority.h"
#include "authority/redis_connection.h"
#include "net/loop.h"
#include "wire/resp_command.h"

namespace weir::bench {

using authority::Answer;
using authority::Mode;
using authority::Outcome;

constexpr std::uint64_t kQueue = 256;  // questions that wait for Redis
constexpr std::uint64_t kHot = 1'000'000;
// A decision that waits longer has failed. Far above what a busy machine makes of a round trip.
constexpr Nanos kDeadline = std::chrono::seconds(1);

[[noreturn]] inline void Fail(const std::string& why) {
  std::fprintf(stderr, "cluster_bench: %s\n", why.c_str());
  std::exit(1);
}

struct RedisWork {
  std::uint64_t operations = 0;  // commands that were sent to it
  std::uint64_t micros = 0;      // in which it executed them; not to read and to write them
};

struct Score {
  std::uint64_t decisions = 0;
  std::uint64_t admitted = 0;
  double seconds = 0;
  RedisWork redis;
};

inline authority::KeyPolicy Policy(std::uint64_t rate, Mode mode) {
  return {.terms = authority::Terms::Of(Quota::PerSecond(rate)).value(), .mode = mode};
}

inline authority::RedisOptions RedisAt(const net::Endpoint& endpoint) {
  authority::RedisOptions options;
  options.endpoints = {endpoint};
  return options;
}

// A host that is asked about so many keys in turn.
class AskedHost : public authority::Replies {
 public:
  AskedHost(net::Loop& loop, const net::Endpoint& redis, const std::string& key, std::size_t keys,
            const authority::KeyPolicy& policy)
      : loop_(loop),
        policy_(policy),
        host_({.deadline = kDeadline}),
        authority_(loop, RedisAt(redis)) {
    for (std::size_t i = 0; i < keys; ++i) keys_.push_back(key + ":" + std::to_string(i));
  }

  void OnReply(authority::Ticket ticket, const authority::SyncReply& reply) override {
    if (reply.outcome != Outcome::kDone) Fail("an exchange failed: " + authority_.problem());
    host_.OnReply(ticket, reply, loop_.now());
  }
  void Ask(std::uint64_t questions) {
    // Who waits is known by when it asked.
    const auto waiter = static_cast<authority::Waiter>(loop_.now().time_since_epoch().count());
    for (; questions > 0 && waiting_ < kQueue; --questions) {
      authority::HostKey& key = host_.Find(keys_[asked_++ % keys_.size()], policy_);
      const authority::LocalDecision decision = host_.Ask(key, 1, waiter, loop_.now());
      if (decision.answer == Answer::kAsk) {
        ++waiting_;
      } else {
        Count(decision);
      }
    }
    Exchange();
  }
  void Exchange() {
    host_.Tick(loop_.now());
    if (host_.has_requests()) authority_.Sync(host_.TakeRequests(), *this);
    if (!host_.has_settled()) return;
    for (const authority::Settled& settled : host_.TakeSettled()) {
      const auto asked_at = Instant(Nanos(static_cast<std::int64_t>(settled.waiter)));
      if (loop_.now() - asked_at >= kDeadline) Fail("a decision was not made in time");
      --waiting_;
      Count(settled.decision);
    }
  }

  [[nodiscard]] std::uint64_t waiting() const { return waiting_; }
  // Nobody waits, and Redis has answered everything.
  [[nodiscard]] bool is_settled() const { return waiting_ == 0 && authority_.under_way() == 0; }
  [[nodiscard]] const Score& score() const { return score_; }

  // Admitted no more than the limit and what the mode may add to it, and what could be, if nobody
  // asked for more than that.
  void CheckPromise() const {
    const double added =
        policy_.mode == Mode::kLease ? static_cast<double>(policy_.terms.presale) : 0;
    const auto burst = static_cast<double>(policy_.terms.burst * keys_.size());
    const double most = burst + burst * score_.seconds + added;  // as much as flows in a second
    if (static_cast<double>(score_.admitted) > most)
      Fail("more was admitted than the limit allows");
    const bool is_below = static_cast<double>(score_.decisions) <= burst * score_.seconds;
    if (is_below && score_.admitted != score_.decisions)
      Fail("a decision was refused for no reason");
  }
  void Took(double seconds) { score_.seconds = seconds; }

 private:
  void Count(const authority::LocalDecision& decision) {
    ++score_.decisions;
    score_.admitted += decision.answer == Answer::kAllow ? 1 : 0;
  }

  net::Loop& loop_;
  std::vector<std::string> keys_;
  authority::KeyPolicy policy_;
  authority::Host host_;
  authority::RedisAuthority authority_;
  std::uint64_t asked_ = 0;
  std::uint64_t waiting_ = 0;
  Score score_;
};

// Commands, each of which answers a number.
class AskedRedis : public authority::RedisConnection::Client {
 public:
  AskedRedis(net::Loop& loop, const net::Endpoint& redis)
      : loop_(loop), connection_(loop, redis, {}, *this) {}

  void OnAnswer(authority::RedisConnection& connection, authority::RedisConnection::Tag tag,
                Outcome outcome, wire::RespValue answer) override {
    if (outcome != Outcome::kDone) Fail("a command failed: " + connection.problem());
    if (!answer.is(wire::RespKind::kInteger)) Fail("no number: " + std::string(answer.text()));
    if (tag != kDecides) return;
    --waiting_;
    ++score_.decisions;
    score_.admitted += answer.integer() <= static_cast<std::int64_t>(kHot) ? 1 : 0;
  }
  void Exchange() {}

  [[nodiscard]] std::uint64_t waiting() const { return waiting_; }
  [[nodiscard]] bool is_settled() const { return connection_.under_way() == 0; }
  [[nodiscard]] const Score& score() const { return score_; }
  void CheckPromise() const {}
  void Took(double seconds) { score_.seconds = seconds; }

 protected:
  static constexpr authority::RedisConnection::Tag kDecides = 0;
  static constexpr authority::RedisConnection::Tag kFollows = 1;

  net::Loop& loop() { return loop_; }
  bool may_wait() const { return waiting_ < kQueue; }
  void Send(const std::string& command, authority::RedisConnection::Tag tag) {
    waiting_ += tag == kDecides ? 1 : 0;
    connection_.Send(command, tag);
  }

 private:
  net::Loop& loop_;
  authority::RedisConnection connection_;
  std::uint64_t waiting_ = 0;
  Score score_;
};

// A counter for each second, INCR and EXPIRE: a window, not a bucket, and no refusal is remembered.
class AskedCounter : public AskedRedis {
 public:
  AskedCounter(net::Loop& loop, const net::Endpoint& redis, std::string key)
      : AskedRedis(loop, redis), key_(std::move(key)) {}

  void Ask(std::uint64_t questions) {
    const auto second = std::chrono::floor<std::chrono::seconds>(loop().now().time_since_epoch());
    const std::string key = key_ + std::to_string(second.count());
    // Once a turn, not for each of them: in favour of the counter.
    std::string count;
    wire::AppendRespCommand({"INCR", key}, count);
    std::string expire;
    wire::AppendRespCommand({"EXPIRE", key, "2"}, expire);
    for (; questions > 0 && may_wait(); --questions) {
      Send(count, kDecides);
      Send(expire, kFollows);
    }
  }

 private:
  std::string key_;
};

// A script that answers a number: what any script costs at least.
class AskedScript : public AskedRedis {
 public:
  AskedScript(net::Loop& loop, const net::Endpoint& redis, const std::string& digest)
      : AskedRedis(loop, redis) {
    wire::AppendRespCommand({"EVALSHA", digest, "1", "key"}, call_);
  }
  void Ask(std::uint64_t questions) {
    for (; questions > 0 && may_wait(); --questions) Send(call_, kDecides);
  }

 private:
  std::string call_;
};

}  // namespace weir::bench
