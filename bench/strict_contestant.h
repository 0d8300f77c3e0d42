// A strict host for cluster_bench.cc: any limit, decided by the library and swapped in Redis.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "authority/redis_calls.h"
#include "authority/redis_swap_store.h"
#include "authority/strict_host.h"
#include "bench/cluster_contestants.h"
#include "net/loop.h"
#include "weir/limit.h"

namespace weir::bench {

// Asked about some keys in turn. REQUIRES: a limit that is never reached.
class AskedStrict : public authority::SwapReplies {
 public:
  AskedStrict(net::Loop& loop, const net::Endpoint& redis, const std::string& limit,
              const std::string& name, int keys)
      : loop_(loop),
        limit_(authority::StrictLimit::Of(Limit::Parse(limit).value()).value()),
        calls_(loop, RedisAt(redis)),
        store_(calls_),
        host_({.deadline = kDeadline}) {
    for (int i = 0; i < keys; ++i) keys_.push_back(name + ":" + std::to_string(i));
  }

  void OnReply(authority::Ticket ticket, const authority::SwapReply& reply) override {
    if (reply.outcome != Outcome::kDone) Fail("a swap failed: " + calls_.problem());
    host_.OnReply(ticket, reply, loop_.now());
  }
  void Ask(std::uint64_t questions) {
    for (; questions > 0 && waiting_ < kQueue; --questions) {
      const authority::StrictAsk ask{.limit = &limit_, .key = keys_[asked_ % keys_.size()]};
      Decision decision;
      if (host_.Ask({&ask, 1}, authority::StrictIntent::kTake, asked_++, loop_.now(),
                    {&decision, 1})) {
        Count(decision);
      } else {
        ++waiting_;
      }
    }
    Exchange();
  }
  void Exchange() {
    host_.Tick(loop_.now());
    if (host_.has_requests()) store_.Swap(host_.TakeRequests(), *this);
    if (!host_.has_settled()) return;
    for (const authority::StrictSettled& settled : host_.TakeSettled()) {
      --waiting_;
      Count(settled.decisions.front());
    }
  }

  [[nodiscard]] std::uint64_t waiting() const { return waiting_; }
  [[nodiscard]] bool is_settled() const { return waiting_ == 0 && host_.is_quiet(); }
  [[nodiscard]] const Score& score() const { return score_; }
  void CheckPromise() const {
    if (host_.counts().fallen > 0) Fail("a decision was not made in time");
    if (score_.admitted != score_.decisions) Fail("a decision was refused for no reason");
  }
  void Took(double seconds) { score_.seconds = seconds; }

 private:
  void Count(const Decision& decision) {
    ++score_.decisions;
    score_.admitted += decision.allowed() ? 1 : 0;
  }

  net::Loop& loop_;
  authority::StrictLimit limit_;
  authority::RedisCalls calls_;
  authority::RedisSwapStore store_;
  authority::StrictHost host_;
  std::vector<std::string> keys_;
  std::uint64_t asked_ = 0;
  std::uint64_t waiting_ = 0;
  Score score_;
};

}  // namespace weir::bench
