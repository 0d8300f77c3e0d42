// Strict hosts over a real Redis, for tests.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "authority/redis_calls.h"
#include "authority/redis_swap_store.h"
#include "authority/strict_host.h"
#include "net/loop.h"
#include "tests/redis_server.h"
#include "tests/strict_site.h"

namespace weir::authority {

// One process with its connections, and its clock.
class RedisSite {
 public:
  RedisSite(net::Loop& loop, const RedisOptions& redis, StrictHostOptions options,
            const Instant& now)
      : loop_(loop),
        calls_(loop, redis),
        store_(calls_),
        site_(store_, Placed(std::move(options)), now) {}

  // Turns the loop until there is an answer.
  std::vector<Decision> TakeAll(const std::vector<StrictAsk>& asks,
                                StrictIntent intent = StrictIntent::kTake) {
    const Waiter waiter = ++last_;
    auto decisions = site_.Ask(asks, waiter, intent);
    for (int turns = 0; !decisions && turns < 20'000; ++turns) {
      loop_.Turn(std::chrono::milliseconds(1));
      site_.Tick();
      decisions = site_.Settled(waiter);
    }
    EXPECT_TRUE(decisions.has_value()) << calls_.problem();
    return decisions.value_or(std::vector<Decision>(asks.size()));
  }
  Decision Take(const StrictLimit& limit, std::string_view key, Permits cost = Permits{1}) {
    return TakeAll({{.limit = &limit, .key = key, .cost = cost}}).front();
  }
  Decision Peek(const StrictLimit& limit, std::string_view key, Permits cost = Permits{1}) {
    return TakeAll({{.limit = &limit, .key = key, .cost = cost}}, StrictIntent::kPeek).front();
  }
  void Finish() {
    for (int turns = 0; !site_.host().is_quiet() && turns < 20'000; ++turns) {
      loop_.Turn(std::chrono::milliseconds(1));
    }
  }

  [[nodiscard]] StrictSite& site() { return site_; }
  [[nodiscard]] RedisCalls& calls() { return calls_; }
  [[nodiscard]] const StrictCounts& counts() { return site_.host().counts(); }

 private:
  StrictHostOptions Placed(StrictHostOptions options) {
    options.place_of = [this](std::string_view key) { return store_.PlaceOf(key); };
    return options;
  }

  net::Loop& loop_;
  RedisCalls calls_;
  RedisSwapStore store_;
  StrictSite site_;
  Waiter last_ = 0;
};

class StrictRedisTest : public testing::Test {
 protected:
  StrictRedisTest() {
    redis_options_.endpoints = {redis_.endpoint()};
    redis_options_.connection.connect_patience = std::chrono::seconds(20);
    redis_options_.connection.patience = std::chrono::seconds(20);
    redis_options_.connection.reconnect = {.first = std::chrono::milliseconds(5),
                                           .longest = std::chrono::milliseconds(20)};
    options_.deadline = std::chrono::seconds(20);  // Redis is there, however slow the machine
  }

  RedisSite& Site() {
    if (!site_) site_ = MakeSite();
    return *site_;
  }
  std::unique_ptr<RedisSite> MakeSite() {
    options_.seed = StrictHostOptions::RandomSeed();
    return std::make_unique<RedisSite>(loop_, redis_options_, options_, now_);
  }
  // Time is the test's own, for Redis too.
  void OwnTime() {
    redis_options_.clock = [this] {
      return static_cast<std::uint64_t>(now_.time_since_epoch().count()) / 1000;
    };
    redis_options_.clock_slack = std::chrono::hours(1);
    options_.pace = std::numeric_limits<std::int64_t>::max();
  }
  void ExpectEveryKeyToHaveATtl() {
    const std::string script =
        "local n = 0 for _, key in ipairs(redis.call('KEYS', '*')) do "
        "if redis.call('PTTL', key) < 0 then n = n + 1 end end return n";
    EXPECT_EQ(redis_.Ask({"EVAL", script, "0"}), "0");
  }
  std::uint64_t Left(const StrictLimit& limit, const std::string& key) {
    return MakeSite()->Peek(limit, key).remaining.count;
  }

  RedisServer redis_;
  net::Loop loop_;
  Instant now_ = Clock::now();
  RedisOptions redis_options_;
  StrictHostOptions options_;
  std::unique_ptr<RedisSite> site_;
};

}  // namespace weir::authority
