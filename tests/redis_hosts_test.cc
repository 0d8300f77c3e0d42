// Three hosts share a limit through a real Redis. Time is the test's: hosts are handed it, and the
// script counts by a clock of the hosts.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "authority/host.h"
#include "authority/redis_authority.h"
#include "net/loop.h"
#include "tests/redis_server.h"

namespace weir::authority {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

// A host with its own connection, as each process has.
class RedisHost : public Replies {
 public:
  RedisHost(net::Loop& loop, const RedisOptions& options, std::uint64_t seed, const Instant& now)
      // Nobody is answered by a deadline: Redis is there.
      : host_({.deadline = hours(1), .breaker = {}, .seed = seed}),
        authority_(loop, options),
        now_(now) {}

  void OnReply(Ticket ticket, const SyncReply& reply) override {
    EXPECT_EQ(reply.outcome, Outcome::kDone);
    host_.OnReply(ticket, reply, now_);
  }
  void Ask(const KeyPolicy& policy, int requests) {
    for (int i = 0; i < requests; ++i) {
      const LocalDecision decision = host_.Ask(host_.Find("key", policy), 1, 0, now_);
      if (decision.answer == Answer::kAsk) {
        ++asked_;
      } else {
        Count(decision);
      }
    }
  }
  void Send() {
    host_.Tick(now_);
    const std::vector<SyncRequest> requests = host_.TakeRequests();
    exchanges_ += requests.size();
    authority_.Sync(requests, *this);
  }
  // Whether nothing is under way any more.
  bool IsSettled() {
    for (const Settled& settled : host_.TakeSettled()) Count(settled.decision);
    return authority_.under_way() == 0 && !host_.has_requests();
  }

  [[nodiscard]] std::uint64_t admitted() const { return admitted_; }
  [[nodiscard]] std::uint64_t asked() const { return asked_; }
  [[nodiscard]] std::uint64_t exchanges() const { return exchanges_; }

 private:
  void Count(const LocalDecision& decision) {
    admitted_ += decision.answer == Answer::kAllow ? 1 : 0;
  }

  Host host_;
  RedisAuthority authority_;
  const Instant& now_;
  std::uint64_t admitted_ = 0;
  std::uint64_t asked_ = 0;
  std::uint64_t exchanges_ = 0;
};

class RedisHostsConcurrentTest : public testing::Test {
 protected:
  void Run(const KeyPolicy& policy, milliseconds time) {
    RedisOptions options;
    options.endpoints = {redis_.endpoint()};
    options.connection.connect_patience = seconds(20);
    options.connection.patience = seconds(20);
    options.clock = [this] {
      return static_cast<std::uint64_t>(now_.time_since_epoch().count()) / 1000;
    };
    options.clock_slack = hours(1);
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      hosts_.push_back(std::make_unique<RedisHost>(loop_, options, seed, now_));
    }
    for (milliseconds passed{0}; passed < time; passed += milliseconds(1)) {
      now_ += milliseconds(1);
      // Uneven: 4, 1 and 1 each millisecond.
      hosts_[0]->Ask(policy, 4);
      hosts_[1]->Ask(policy, 1);
      hosts_[2]->Ask(policy, 1);
      Settle();
    }
  }
  void Settle() {
    for (const auto& host : hosts_) host->Send();
    for (int turns = 0; turns < 20'000; ++turns) {
      bool settled = true;
      for (const auto& host : hosts_) settled = host->IsSettled() && settled;
      if (settled) return;
      loop_.Turn(milliseconds(1));
    }
    FAIL() << "Redis does not answer";
  }
  std::uint64_t Sum(std::uint64_t (RedisHost::*number)() const) const {
    std::uint64_t sum = 0;
    for (const auto& host : hosts_) sum += ((*host).*number)();
    return sum;
  }

  RedisServer redis_;
  net::Loop loop_;
  Instant now_{seconds(1'000'000)};
  std::vector<std::unique_ptr<RedisHost>> hosts_;
};

TEST_F(RedisHostsConcurrentTest, StrictAdmitsExactlyTheLimit) {
  const Terms terms = Terms::Of(Quota::PerSecond(100).Burst(50)).value();
  Run({.terms = terms, .mode = Mode::kStrict}, seconds(1));
  // The burst at 1 ms, and one each 10 ms until a second has passed.
  EXPECT_EQ(Sum(&RedisHost::admitted), 50U + 99U);
}

TEST_F(RedisHostsConcurrentTest, LeasesAdmitTheLimitAndAskSeldom) {
  const Terms terms = Terms::Of(Quota::PerSecond(2000).Burst(1000)).value();
  Run({.terms = terms, .mode = Mode::kLease}, seconds(3));
  const std::uint64_t limit = 1000 + 2000 * 3;
  EXPECT_LE(Sum(&RedisHost::admitted), limit + terms.presale);
  EXPECT_GE(Sum(&RedisHost::admitted), limit - limit / 20);
  EXPECT_LT(Sum(&RedisHost::exchanges) * 20, 3000U * 6);  // most decisions are made in memory
}

}  // namespace
}  // namespace weir::authority
