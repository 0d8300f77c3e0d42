// The bounds that docs/cluster.md states, against demand that looks for their weak spot.
//
// An adversary owns all clients. It begins with bursts at random and keeps every change that makes
// the cluster let through more on top of its burst: a small hill climber, the same in every run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sim/chance.h"
#include "sim/cluster.h"
#include "sim/method.h"

namespace weir::sim {
namespace {

using authority::Mode;
using authority::Terms;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr int kHosts = 5;
constexpr int kTries = 40;

// `requests` at once, `after` the one before.
struct Burst {
  microseconds after;
  int host;
  int requests;
};
using Attack = std::vector<Burst>;

Burst AnyBurst(const Quota& quota, Chance& chance) {
  const auto most = quota.burst().count;
  return {.after = microseconds(chance.Below(chance.Happens(0.2) ? 600'000 : 20'000)),
          .host = static_cast<int>(chance.Below(kHosts)),
          .requests = static_cast<int>(chance.Below(chance.Happens(0.3) ? most : most / 10 + 2))};
}

Attack Changed(Attack attack, const Quota& quota, Chance& chance) {
  const std::uint64_t changes = 1 + chance.Below(4);
  for (std::uint64_t i = 0; i < changes; ++i) {
    attack[chance.Below(attack.size())] = AnyBurst(quota, chance);
  }
  if (chance.Happens(0.3)) std::swap(attack[chance.Below(attack.size())], attack.front());
  return attack;
}

// E, in permits: what it takes on top of the burst for all that was admitted to conform.
double OverBurst(const Attack& attack, const Quota& quota, Mode mode) {
  Events events;
  const double rate = static_cast<double>(quota.permits().count) /
                      std::chrono::duration<double>(quota.period()).count();
  Bucket shadow(rate, static_cast<double>(quota.burst().count));
  double lowest = 0;
  ClusterOptions options;
  options.hosts = kHosts;
  options.policy.terms = Terms::Of(quota).value();
  options.policy.mode = mode;
  Cluster cluster(events, options, [&](RequestId, bool is_admitted) {
    if (!is_admitted) return;
    shadow.Pass(events.now());
    shadow.tokens -= 1;
    lowest = std::min(lowest, shadow.tokens);
  });
  RequestId id = 0;
  for (const Burst& burst : attack) {
    events.RunUntil(events.now() + burst.after);
    for (int i = 0; i < burst.requests; ++i) cluster.Arrive(++id, burst.host);
  }
  events.RunUntil(events.now() + milliseconds(300));
  EXPECT_EQ(cluster.Count().Imbalance(), 0);
  return -lowest;
}

// The worst that the adversary finds.
double Worst(const Quota& quota, Mode mode, std::uint64_t seed) {
  Chance chance(seed);
  Attack best(40);
  for (Burst& burst : best) burst = AnyBurst(quota, chance);
  double worst = OverBurst(best, quota, mode);
  for (int i = 0; i < kTries; ++i) {
    const Attack next = Changed(best, quota, chance);
    const double over = OverBurst(next, quota, mode);
    if (over < worst) continue;
    worst = over;
    best = next;
  }
  return worst;
}

// A request that waits is admitted when its answer arrives; what flows in on the way, at most the
// longest delay, and the permit that is being counted are not the method's doing.
double OnTheWay(const Quota& quota) {
  return 1 + static_cast<double>(quota.permits().count) /
                 std::chrono::duration<double>(quota.period()).count() * 0.001;
}

const Quota kHot = Quota::PerSecond(2'000);
const Quota kTight = Quota::PerSecond(1'000).Burst(500);

TEST(BoundsTest, StrictLetsNothingThroughOnTopOfTheBurst) {
  for (const Quota& quota : {kHot, kTight, Quota::PerSecond(20)}) {
    EXPECT_LE(Worst(quota, Mode::kStrict, 1), OnTheWay(quota)) << quota.burst().count;
  }
}

TEST(BoundsTest, LeasesLetThroughNoMoreThanIsSoldAhead) {
  double worst_of_all = 0;
  for (const Quota& quota : {kHot, kTight}) {
    const double bound = static_cast<double>(Terms::Of(quota).value().presale) + OnTheWay(quota);
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      const double worst = Worst(quota, Mode::kLease, seed);
      EXPECT_LE(worst, bound) << quota.burst().count;
      worst_of_all = std::max(worst_of_all, worst);
    }
  }
  EXPECT_GT(worst_of_all, 1) << "the adversary is no adversary";
}

TEST(BoundsTest, WriteBackLetsThroughNoMoreThanEveryHostMayLeaveUntold) {
  for (const Quota& quota : {kHot, Quota::PerSecond(20)}) {
    const Terms terms = Terms::Of(quota).value();
    const double untold = static_cast<double>(std::max<std::uint64_t>(1, terms.presale));
    const double bound = kHosts * untold + OnTheWay(quota);
    double worst = 0;
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      worst = std::max(worst, Worst(quota, Mode::kWriteBack, seed));
    }
    EXPECT_LE(worst, bound);
    EXPECT_GT(worst, bound / 20) << "the adversary is no adversary";
  }
}

}  // namespace
}  // namespace weir::sim
