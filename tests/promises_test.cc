// What every limit promises, whatever its algorithm: checked on random limits and calls by looking
// at the answers alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "algorithm/plan.h"
#include "base/time.h"
#include "tests/random_limits.h"
#include "weir/limit.h"
#include "weir/limiter.h"

namespace weir {
namespace {

using algorithm::Plan;
using random::AnyLimit;
using random::CapacityOf;
using random::CountsDenied;
using random::Kind;
using random::QuotaOf;
using random::Random;

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kLastInstant = std::numeric_limits<std::int64_t>::max();

// A key under a plan. Copies are the same key in another future.
class Key {
  // Keeps what `step` changes.
  template <typename F>
  auto Step(F step) {
    algorithm::State state{std::span<const std::uint64_t>(words_)};
    auto answer = step(state);
    for (const auto& write : state.writes()) words_[write.index] = write.value;
    return answer;
  }

 public:
  Key(const Limit& limit, std::uint64_t created)
      : plan_(std::make_shared<const Plan>(Plan::Of(limit).value())), words_(plan_->words()) {
    Step([&](auto& state) {
      plan_->Start(state, ToInstant(created));
      return 0;
    });
  }

  Decision Take(std::uint64_t cost, std::uint64_t now) {
    return Step([&](auto& s) { return plan_->Admit(s, Permits{cost}, ToInstant(now)); });
  }
  Decision Peek(std::uint64_t cost, std::uint64_t now) {
    return Step([&](auto& s) { return plan_->Peek(s, Permits{cost}, ToInstant(now)); });
  }
  Partial TakeUpTo(std::uint64_t cost, std::uint64_t now) {
    return Step([&](auto& s) { return plan_->TakeUpTo(s, Permits{cost}, ToInstant(now)); });
  }
  Decision Charge(std::uint64_t cost, std::uint64_t now) {
    return Step([&](auto& s) { return plan_->Charge(s, Permits{cost}, ToInstant(now)); });
  }
  void Refund(std::uint64_t cost, std::uint64_t now, std::uint64_t taken) {
    Step([&](auto& s) {
      plan_->Refund(s, Permits{cost}, ToInstant(now), ToInstant(taken));
      return 0;
    });
  }
  Reservation Reserve(std::uint64_t cost, std::uint64_t now, Nanos patience) {
    return Step(
        [&](auto& s) { return plan_->Reserve(s, Permits{cost}, ToInstant(now), patience); });
  }
  [[nodiscard]] const std::vector<std::uint64_t>& words() const { return words_; }

 private:
  std::shared_ptr<const Plan> plan_;
  std::vector<std::uint64_t> words_;
};

// A decision in words, to compare and to print.
std::string Text(const Decision& d) {
  return "verdict " + std::to_string(static_cast<int>(d.verdict)) + " grace " +
         std::to_string(static_cast<int>(d.grace)) + " remaining " +
         std::to_string(d.remaining.count) + " wait " + std::to_string(d.wait.count()) + " retry " +
         std::to_string(d.retry_after.count()) + " reset " + std::to_string(d.reset_after.count());
}

bool KeepsDistance(const Limit& limit) {
  const auto* log = std::get_if<SlidingLog>(&limit.parts()[0]);
  return log != nullptr && log->min_gap > Nanos(0);
}

// A limit, a key with some past, and the present.
struct Scene {
  explicit Scene(std::uint64_t seed, Kind kind) : random(seed), limit(AnyLimit(random, kind)) {
    now = random.OneIn(2) ? 0 : random.AnySize(0, std::uint64_t{1} << 60);
    period = static_cast<std::uint64_t>(QuotaOf(limit.parts()[0]).period().count());
    // Not so long that the ring of ticks comes round (algorithm/rate.h).
    soon = std::min(period, std::uint64_t{1} << 48);
    capacity = CapacityOf(limit.parts()[0]);
    Key fresh(limit, now);
    key = std::make_unique<Key>(fresh);
    const std::uint64_t calls = random.Below(12);
    for (std::uint64_t i = 0; i < calls; ++i) {
      const std::uint64_t cost = random.OneIn(2) ? 1 : random.AnySize(1, capacity);
      if (random.OneIn(8)) {
        key->Reserve(cost, now, Nanos(soon));
      } else {
        key->Take(cost, now);
      }
      now += random.AnySize(0, soon);
    }
  }
  std::uint64_t AnyCost() { return random.OneIn(2) ? 1 : random.AnySize(1, capacity); }
  [[nodiscard]] std::string Name(std::uint64_t seed) const {
    return "seed " + std::to_string(seed) + ", " + limit.ToString() + ", at " +
           std::to_string(now) + "ns";
  }

  Random random;
  Limit limit;
  std::uint64_t now = 0;
  std::uint64_t period = 0;
  std::uint64_t soon = 0;  // a period, if that is not too long
  std::uint64_t capacity = 0;
  std::unique_ptr<Key> key;
};

class EveryLimit : public testing::TestWithParam<Kind> {
 protected:
  template <typename Check>
  void ForManyScenes(Check check) {
    for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
      Scene scene(seed, GetParam());
      SCOPED_TRACE(scene.Name(seed));
      check(scene);
      if (HasFatalFailure()) return;
    }
  }
};

TEST_P(EveryLimit, AdmitsARetryThenAndNotANanosecondEarlier) {
  int refused = 0;
  ForManyScenes([&](Scene& scene) {
    const std::uint64_t cost = scene.AnyCost();
    Decision decision;
    for (int i = 0; i < 3 && decision.allowed(); ++i) decision = scene.key->Take(cost, scene.now);
    if (decision.verdict != Verdict::kDeny) return;
    ++refused;
    ASSERT_GT(decision.retry_after, Nanos(0));
    const std::uint64_t retry =
        scene.now + static_cast<std::uint64_t>(decision.retry_after.count());
    Key then = *scene.key;
    EXPECT_TRUE(then.Take(cost, retry).allowed());
    Key earlier = *scene.key;
    const Decision too_early = earlier.Take(cost, retry - 1);
    EXPECT_EQ(too_early.verdict, Verdict::kDeny);
    if (!CountsDenied(scene.limit.parts()[0])) {
      EXPECT_EQ(too_early.retry_after, Nanos(1));
    }
  });
  EXPECT_GT(refused, 300);
}

TEST_P(EveryLimit, IsNotChangedByARefusal) {
  ForManyScenes([](Scene& scene) {
    if (CountsDenied(scene.limit.parts()[0])) return;
    const std::vector<std::uint64_t> before = scene.key->words();
    for (const std::uint64_t cost : {scene.AnyCost(), scene.capacity, kMax}) {
      Key key = *scene.key;
      if (key.Take(cost, scene.now).allowed()) continue;
      EXPECT_EQ(key.words(), before);
      EXPECT_FALSE(key.Reserve(cost, scene.now, Nanos(0)).allowed());
      EXPECT_EQ(key.words(), before);
    }
  });
}

TEST_P(EveryLimit, IsNotChangedByALookOrACostOfNothing) {
  ForManyScenes([](Scene& scene) {
    const std::vector<std::uint64_t> before = scene.key->words();
    scene.key->Peek(scene.AnyCost(), scene.now);
    EXPECT_TRUE(scene.key->Take(0, scene.now).allowed());
    EXPECT_TRUE(scene.key->Reserve(0, scene.now, Nanos(0)).allowed());
    scene.key->Refund(0, scene.now, scene.now);
    EXPECT_EQ(scene.key->words(), before);
    // A charge may write the same state in other words.
    Key charged = *scene.key;
    charged.Charge(0, scene.now);
    for (const std::uint64_t later : {std::uint64_t{0}, std::uint64_t{1}, scene.soon}) {
      const std::uint64_t cost = scene.AnyCost();
      EXPECT_EQ(Text(charged.Peek(cost, scene.now + later)),
                Text(scene.key->Peek(cost, scene.now + later)));
    }
  });
}

TEST_P(EveryLimit, GivesWhatRemainsAndNotOneMore) {
  ForManyScenes([](Scene& scene) {
    if (scene.limit.soft_percent() > 0 || KeepsDistance(scene.limit)) return;
    if (GetParam() == Kind::kPacer) return;  // gives any amount, and makes the next one wait
    const Decision look = scene.key->Peek(0, scene.now);
    Key all = *scene.key;
    EXPECT_TRUE(all.Take(look.remaining.count, scene.now).allowed());
    EXPECT_EQ(all.Peek(0, scene.now).remaining, Permits{0});
    Key more = *scene.key;
    EXPECT_FALSE(more.Take(look.remaining.count + 1, scene.now).allowed());
    Key partial = *scene.key;
    EXPECT_EQ(partial.TakeUpTo(kMax, scene.now).taken, look.remaining);
    EXPECT_FALSE(partial.Take(1, scene.now).allowed());
  });
}

TEST_P(EveryLimit, TakesBackExactlyWhatACancelledReservationTook) {
  ForManyScenes([](Scene& scene) {
    if (CountsDenied(scene.limit.parts()[0])) return;
    const std::uint64_t cost = scene.AnyCost();
    Key key = *scene.key;
    const Reservation reservation = key.Reserve(cost, scene.now, Nanos(2 * scene.soon));
    if (!reservation) return;
    const std::uint64_t taken = ToNanos(reservation.taken);
    key.Refund(reservation.cost.count, scene.now, taken);
    // Until then it kept its place; from then on it is as if it had not been there.
    for (const std::uint64_t later :
         {std::uint64_t{0}, std::uint64_t{1}, scene.soon / 3, scene.soon, 2 * scene.soon}) {
      const std::uint64_t other = scene.AnyCost();
      EXPECT_EQ(Text(key.Peek(other, taken + later)), Text(scene.key->Peek(other, taken + later)));
    }
  });
}

TEST_P(EveryLimit, NeitherWrapsNorCrashesAtTheEndsOfWhatCanBeSaid) {
  ForManyScenes([](Scene& scene) {
    const std::uint64_t costs[] = {0,          1,          scene.capacity,   1ULL << 31,
                                   1ULL << 32, 1ULL << 62, (1ULL << 63) - 1, 1ULL << 63,
                                   kMax - 1,   kMax};
    const std::uint64_t times[] = {
        0, 1, scene.now, 1ULL << 62, (1ULL << 62) + 1, kLastInstant - 1, kLastInstant};
    const Nanos patiences[] = {Nanos::min(), Nanos(-1), Nanos(0), Nanos(1), Nanos::max()};
    std::uint64_t now = 0;
    for (int i = 0; i < 30; ++i) {
      now = std::max(now, times[scene.random.Below(std::size(times))]);
      const std::uint64_t cost = costs[scene.random.Below(std::size(costs))];
      Decision decision;
      switch (scene.random.Below(6)) {
        case 0:
          decision = scene.key->Take(cost, now);
          break;
        case 1:
          decision = scene.key->Charge(cost, now);
          break;
        case 2:
          scene.key->Refund(cost, now, times[scene.random.Below(std::size(times))]);
          break;
        case 3:
          decision = scene.key->TakeUpTo(cost, now).decision;
          break;
        case 4:
          decision = scene.key->Peek(cost, now);
          break;
        default:
          decision =
              scene.key->Reserve(cost, now, patiences[scene.random.Below(std::size(patiences))])
                  .decision;
          break;
      }
      ASSERT_GE(decision.retry_after, Nanos(0));
      ASSERT_GE(decision.reset_after, Nanos(0));
      ASSERT_GE(decision.wait, Nanos(0));
      if (GetParam() == Kind::kPacer) continue;
      ASSERT_LE(decision.remaining.count, scene.capacity);
    }
    // The largest debt there is leaves nothing, at any instant.
    scene.key->Charge(kMax, now);
    EXPECT_EQ(scene.key->Peek(0, now).remaining, Permits{0});
    EXPECT_FALSE(scene.key->Take(1, now).allowed());
  });
}

INSTANTIATE_TEST_SUITE_P(All, EveryLimit, random::AllKinds(), random::NameOf);

TEST(PromisesTest, CancellingTwiceGivesBackOnce) {
  Limiter limiter(Quota::PerSecond(10), {}, Instant{});
  Reservation first = limiter.Reserve(Permits{4}, Nanos(0), Instant{});
  Reservation second = limiter.Reserve(Permits{4}, Nanos(0), Instant{});
  EXPECT_TRUE(second);
  limiter.Cancel(first, Instant{});
  limiter.Cancel(first, Instant{});
  EXPECT_EQ(limiter.Peek(Permits{0}, Instant{}).remaining, Permits{6});
}

TEST(PromisesTest, CancellingARefusedReservationGivesNothing) {
  Limiter limiter(Quota::PerSecond(10), {}, Instant{});
  EXPECT_TRUE(limiter.Take(Permits{8}, Instant{}));
  Reservation refused = limiter.Reserve(Permits{4}, Nanos(0), Instant{});
  EXPECT_FALSE(refused);
  limiter.Cancel(refused, Instant{});
  EXPECT_EQ(limiter.Peek(Permits{0}, Instant{}).remaining, Permits{2});
}

// A reservation never lies so far ahead that the state cannot tell it from the past.
TEST(PromisesTest, ReservationsThatPileUpForDecadesAreRefusedAndNotForgotten) {
  for (const char* text : {"token_bucket 1/365d burst 50", "token_bucket 583/365d",
                           "leaky_bucket 583/365d queue 100", "pacer 1/365d", "pacer 583/365d"}) {
    Limiter limiter(Limit::Parse(text).value(), {}, Instant{});
    Nanos last_wait{0};
    for (int i = 0; i < 1000; ++i) {
      const Reservation reservation = limiter.Reserve(Permits{40}, Nanos::max(), Instant{});
      if (!reservation) break;
      ASSERT_GE(reservation.wait(), last_wait) << text << ", after " << i;
      last_wait = reservation.wait();
    }
    EXPECT_GT(last_wait, Nanos(0)) << text;
    EXPECT_FALSE(limiter.Take(Permits{40}, Instant{})) << text;
  }
}

}  // namespace
}  // namespace weir
