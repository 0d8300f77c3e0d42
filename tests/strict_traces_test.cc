// Strict hosts over a real Redis decide as the library does: its traces, and random requests.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/random_limits.h"
#include "tests/strict_redis.h"
#include "trace/trace.h"
#include "weir/keyed_limiter.h"

namespace weir::authority {
namespace {

using std::chrono::seconds;

// --- the library's traces ------------------------------------------------------------------------

// Each verb through another host: none of them knows what the others did but from Redis.
class StrictTarget final : public trace::Target {
 public:
  StrictTarget(std::vector<std::unique_ptr<RedisSite>> sites, std::string key, const Limit& limit,
               Instant& now)
      : sites_(std::move(sites)),
        key_(std::move(key)),
        limit_(StrictLimit::Of(limit).value()),
        now_(now) {}

  Decision Take(Permits cost, Instant now) override { return Next(now).Take(limit_, key_, cost); }
  Decision Peek(Permits cost, Instant now) override { return Next(now).Peek(limit_, key_, cost); }
  void Refund(Permits cost, Instant now) override {
    RedisSite& site = Next(now);
    site.site().Refund({{.limit = &limit_, .key = key_, .cost = cost}});
    site.Finish();
  }
  void SetLimit(const Limit& limit, Instant /*now*/) override {
    limit_ = StrictLimit::Of(limit).value();
  }
  Partial TakeUpTo(Permits /*cost*/, Instant /*now*/) override { return {}; }
  Decision Charge(Permits /*cost*/, Instant /*now*/) override { return {}; }
  weir::Reservation Reserve(Permits /*cost*/, Nanos /*patience*/, Instant /*now*/) override {
    return {};
  }

 private:
  RedisSite& Next(Instant now) {
    now_ = now;
    return *sites_[++turn_ % sites_.size()];
  }

  std::vector<std::unique_ptr<RedisSite>> sites_;
  std::string key_;
  StrictLimit limit_;
  Instant& now_;
  std::size_t turn_ = 0;
};

// The parts of a trace, from one new limit to the next, that a strict host can be asked: its verbs,
// time in whole microseconds (Redis knows no other) that goes forward, and limits of a state that
// can be sent.
trace::Trace WhatCanBeAsked(const trace::Trace& trace) {
  trace::Trace all;
  trace::Trace part;
  bool is_fit = true;
  Instant latest{};
  const auto close = [&] {
    if (is_fit) all.insert(all.end(), part.begin(), part.end());
    part.clear();
    is_fit = true;
    latest = Instant{};
  };
  for (const trace::Step& step : trace) {
    if (step.verb == trace::Verb::kNewLimit) close();
    const bool is_known = step.verb == trace::Verb::kNewLimit ||
                          step.verb == trace::Verb::kSetLimit || step.verb == trace::Verb::kTake ||
                          step.verb == trace::Verb::kPeek || step.verb == trace::Verb::kRefund;
    const bool is_even = step.at.time_since_epoch().count() % 1000 == 0;
    is_fit = is_fit && is_known && is_even && step.at >= latest;
    if (step.limit) is_fit = is_fit && StrictLimit::Of(*step.limit).ok();
    latest = std::max(latest, step.at);
    part.push_back(step);
  }
  close();
  return all;
}

class StrictTraceConcurrentTest : public StrictRedisTest,
                                  public trace::TargetMaker,
                                  public testing::WithParamInterface<const char*> {
 protected:
  // Time begins again with each limit, so hosts do too.
  std::unique_ptr<trace::Target> Make(const Limit& limit) override {
    now_ = Instant{};
    std::vector<std::unique_ptr<RedisSite>> sites;
    sites.push_back(MakeSite());
    sites.push_back(MakeSite());
    return std::make_unique<StrictTarget>(std::move(sites), "key" + std::to_string(++made_), limit,
                                          now_);
  }

 private:
  int made_ = 0;
};

TEST_P(StrictTraceConcurrentTest, HoldsForTwoHostsInTurn) {
  const std::string path =
      (std::filesystem::path(WEIR_SOURCE_DIR) / "tests" / "traces" / GetParam()).string();
  const Result<trace::Trace> whole = trace::ReadFile(path);
  ASSERT_TRUE(whole) << whole.error().message;
  const trace::Trace trace = WhatCanBeAsked(*whole);
  RecordProperty("steps", static_cast<int>(trace.size()));
  ASSERT_GT(trace.size(), 10U);
  OwnTime();
  for (const trace::Mismatch& mismatch : trace::Run(trace, *this)) {
    ADD_FAILURE_AT(path.c_str(), mismatch.line)
        << "expected " << mismatch.expected << "\n     got " << mismatch.got;
  }
  ExpectEveryKeyToHaveATtl();
}

INSTANTIATE_TEST_SUITE_P(All, StrictTraceConcurrentTest,
                         testing::Values("token_bucket.trace", "leaky_bucket.trace",
                                         "fixed_window.trace", "sliding.trace", "several.trace",
                                         "corners.trace"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           return name.substr(0, name.find('.'));
                         });

// --- the library itself --------------------------------------------------------------------------

using StrictLibraryConcurrentTest = StrictRedisTest;

TEST_F(StrictLibraryConcurrentTest, EveryAlgorithmDecidesAsTheLibraryDoesToTheNanosecond) {
  OwnTime();
  now_ = Instant(seconds(1'700'000'000));
  random::Random random(5);
  const std::unique_ptr<RedisSite> sites[] = {MakeSite(), MakeSite(), MakeSite()};
  for (const char* text :
       {"token_bucket 30/1s burst 10", "token_bucket 30/1s burst 10 initial 3",
        "leaky_bucket 30/1s queue 5", "fixed_window 15/500ms", "fixed_window 15/500ms start first",
        "fixed_window 15/500ms count_denied", "fixed_window 60/day zone Europe/Berlin",
        "sliding_window 15/500ms", "sliding_counters 15/500ms windows 5", "sliding_log 15/500ms",
        "sliding_log 15/500ms min_gap 20ms", "sliding_log 15/500ms count_denied", "pacer 30/1s",
        "pacer 30/1s warm_up 1s", "token_bucket 30/1s burst 10 + fixed_window 100/1h + pacer 60/1s",
        "sliding_window 15/500ms soft 20%"}) {
    const Limit limit = Limit::Parse(text).value();
    const StrictLimit strict = StrictLimit::Of(limit).value();
    KeyedLimiter library(limit, {.max_keys = 100});
    int admitted = 0;
    for (int i = 0; i < 150; ++i) {
      now_ += std::chrono::microseconds(random.OneIn(20) ? random.Below(700'000)
                                                         : random.Below(40'000));
      const Permits cost{random.OneIn(5) ? random.Below(4) : 1};
      RedisSite& site = *sites[random.Below(3)];
      const std::uint64_t known = site.counts().known;
      const Decision here = site.Take(strict, text, cost);
      const Decision there = library.Take(text, cost, now_);
      ASSERT_EQ(here.verdict, there.verdict) << text << ", step " << i;
      admitted += here.allowed() ? 1 : 0;
      if (site.counts().known != known) {  // from memory: others may have used more since
        ASSERT_LE(here.retry_after, there.retry_after) << text << ", step " << i;
        continue;
      }
      ASSERT_EQ(here.grace, there.grace) << text << ", step " << i;
      ASSERT_EQ(here.limit_index, there.limit_index) << text << ", step " << i;
      ASSERT_EQ(here.remaining, there.remaining) << text << ", step " << i;
      ASSERT_EQ(here.wait, there.wait) << text << ", step " << i;
      ASSERT_EQ(here.retry_after, there.retry_after) << text << ", step " << i;
      ASSERT_EQ(here.reset_after, there.reset_after) << text << ", step " << i;
    }
    EXPECT_GT(admitted, 10) << text;
    EXPECT_LT(admitted, 150) << text;
  }
  ExpectEveryKeyToHaveATtl();
}

}  // namespace
}  // namespace weir::authority
