#include "tests/random_limits.h"

#include <chrono>
#include <type_traits>
#include <variant>

namespace weir::random {
namespace {

constexpr std::uint64_t kYear = 365ULL * 86'400 * 1'000'000'000;

std::variant<Nanos, Calendar> AnyWindow(Random& random, Nanos period, WindowStart start) {
  if (start == WindowStart::kEpoch && random.OneIn(6)) return Calendar{};
  return period;
}

Algorithm AnyAlgorithm(Random& random, Kind kind) {
  switch (kind) {
    case Kind::kTokenBucket: {
      Quota quota = AnyQuota(random);
      if (random.OneIn(2)) quota = quota.Burst(random.AnySize(1, 1'000'000'000'000));
      if (random.OneIn(4)) quota = quota.Initial(random.Below(quota.burst().count + 1));
      return TokenBucket{quota};
    }
    case Kind::kLeakyBucket: {
      const std::uint64_t queue = random.OneIn(4) ? 0 : random.AnySize(0, 1'000'000);
      return LeakyBucket{AnyQuota(random), Permits{queue}, Permits{random.Below(queue + 1)}};
    }
    case Kind::kFixedWindow: {
      const Quota quota = AnyQuota(random);
      const WindowStart start = random.OneIn(2) ? WindowStart::kFirstRequest : WindowStart::kEpoch;
      return FixedWindow{.permits = quota.permits(),
                         .window = AnyWindow(random, quota.period(), start),
                         .start = start,
                         .denied = random.OneIn(3) ? Denied::kCounted : Denied::kIgnored};
    }
    case Kind::kSlidingWindow:
      return SlidingWindow{AnyQuota(random, 1ULL << 31)};
    case Kind::kSlidingCounters: {
      const Quota quota = AnyQuota(random);
      const auto parts = static_cast<std::uint32_t>(
          random.AnySize(1, std::min<std::uint64_t>(60, quota.period().count())));
      return SlidingCounters{quota, parts};
    }
    case Kind::kSlidingLog: {
      SlidingLog limit{AnyQuota(random, 40)};
      if (random.OneIn(3)) {
        limit.min_gap = Nanos(random.Below(std::uint64_t(limit.quota.period().count())));
      }
      if (random.OneIn(3)) limit.denied = Denied::kCounted;
      return limit;
    }
    case Kind::kPacer:
      return Pacer{.quota = AnyQuota(random), .max_burst = Nanos(random.AnySize(0, 1ULL << 42))};
  }
  return TokenBucket{Quota::PerSecond(1)};
}

}  // namespace

Quota AnyQuota(Random& random, std::uint64_t most_permits) {
  const std::uint64_t period =
      random.OneIn(2) ? random.AnySize(1, kYear)
                      : random.OneOf<std::uint64_t>({1'000'000'000, 60'000'000'000,
                                                     3'600'000'000'000, 86'400'000'000'000, kYear});
  return Quota::Per(random.AnySize(1, std::min(period, most_permits)), Nanos(period));
}

std::string NameOf(const testing::TestParamInfo<Kind>& tested) {
  static constexpr const char* kNames[] = {"TokenBucket",   "LeakyBucket",     "FixedWindow",
                                           "SlidingWindow", "SlidingCounters", "SlidingLog",
                                           "Pacer"};
  return kNames[static_cast<std::size_t>(tested.param)];
}

Limit AnyLimit(Random& random, Kind kind) {
  for (;;) {
    Limit limit(AnyAlgorithm(random, kind));
    if (kind != Kind::kPacer && random.OneIn(5)) {
      limit = limit.Soft(static_cast<std::uint32_t>(random.Below(200)));
    }
    if (!limit.WhatIsWrong()) return limit;
  }
}

Quota QuotaOf(const Algorithm& algorithm) {
  return std::visit(
      [](const auto& l) {
        if constexpr (std::is_same_v<std::decay_t<decltype(l)>, FixedWindow>) {
          const Nanos* period = std::get_if<Nanos>(&l.window);
          return Quota::Per(l.permits.count,
                            period != nullptr ? *period : Nanos(std::chrono::hours(24)));
        } else {
          return l.quota;
        }
      },
      algorithm);
}

std::uint64_t CapacityOf(const Algorithm& algorithm) {
  if (const auto* leaky = std::get_if<LeakyBucket>(&algorithm)) return leaky->queue.count + 1;
  return QuotaOf(algorithm).burst().count;
}

bool CountsDenied(const Algorithm& algorithm) {
  if (const auto* l = std::get_if<FixedWindow>(&algorithm)) return l->denied == Denied::kCounted;
  if (const auto* l = std::get_if<SlidingLog>(&algorithm)) return l->denied == Denied::kCounted;
  return false;
}

}  // namespace weir::random
