// A random limit and a random sequence of calls, each answer compared with the reference.
#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "../tests/reference/limiter.h"
#include "algorithm/plan.h"
#include "base/time.h"
#include "weir/limit.h"
#include "weir/limiter.h"

namespace {

using namespace weir;

Limit AnyLimit(FuzzedDataProvider& bytes) {
  const auto period = bytes.ConsumeIntegralInRange<std::int64_t>(1, 366LL * 86'400 * 1'000'000'000);
  const auto up_to = [&](std::uint64_t most) {
    return bytes.ConsumeIntegralInRange<std::uint64_t>(1, most);
  };
  const std::uint64_t permits = up_to(static_cast<std::uint64_t>(period));
  const Quota quota = Quota::Per(permits, Nanos(period));
  switch (bytes.ConsumeIntegralInRange(0, 6)) {
    case 0:
      return LeakyBucket{quota, Permits{up_to(1'000'000)}, Permits{0}};
    case 1:
      return FixedWindow{
          .permits = Permits{permits},
          .window = Nanos(period),
          .start = bytes.ConsumeBool() ? WindowStart::kEpoch : WindowStart::kFirstRequest};
    case 2:
      return SlidingWindow{quota};
    case 3:
      return SlidingCounters{quota, static_cast<std::uint32_t>(up_to(60))};
    case 4:
      return SlidingLog{Quota::Per(std::min<std::uint64_t>(permits, 100), Nanos(period))};
    default:
      return TokenBucket{quota.Burst(up_to(1ULL << 40))};
  }
}

void Demand(const std::string& wrong, const Limit& limit, std::uint64_t now) {
  if (wrong.empty()) return;
  std::fprintf(stderr, "%s, at %llu ns: %s\n", limit.ToString().c_str(),
               static_cast<unsigned long long>(now), wrong.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 1024) return -1;
  FuzzedDataProvider bytes(data, size);
  const Limit limit = AnyLimit(bytes);
  const auto plan = algorithm::Plan::Of(limit);
  if (!plan) return -1;
  const bool bucket = plan->only_bucket() != nullptr;

  std::uint64_t now = bytes.ConsumeIntegralInRange<std::uint64_t>(0, 1ULL << 61);
  Limiter limiter(limit, {}, ToInstant(now));
  reference::Limiter expected(limit, ToInstant(now));
  // The ring of ticks is not followed all the way round (algorithm/rate.h).
  const std::uint64_t end = now + (1ULL << 62) / algorithm::Rate::kMaxTicksPerNano;
  while (bytes.remaining_bytes() > 0) {
    const auto verb = bytes.ConsumeIntegralInRange(0, 7);
    now = std::min(
        now + (bytes.ConsumeIntegral<std::uint64_t>() >> bytes.ConsumeIntegralInRange(8, 63)), end);
    const Permits cost{bytes.ConsumeIntegral<std::uint64_t>() >>
                       bytes.ConsumeIntegralInRange(0, 63)};
    const Instant at = ToInstant(now);
    switch (verb) {
      case 0:
        Demand(expected.Peek(cost, at, limiter.Peek(cost, at)), limit, now);
        break;
      case 1:
        Demand(expected.TakeUpTo(cost, at, limiter.TakeUpTo(cost, at)), limit, now);
        break;
      case 2: {
        const Nanos patience(now & 0xffff'ffff'ffff);
        Demand(expected.Reserve(cost, patience, at, limiter.Reserve(cost, patience, at)), limit,
               now);
        break;
      }
      case 3:  // what the others can owe is bounded by their counters
        if (!bucket) break;
        Demand(expected.Charge(cost, at, limiter.Charge(cost, at)), limit, now);
        break;
      case 4:
        if (!bucket) break;
        limiter.Refund(cost, at);
        expected.Refund(cost, at);
        break;
      default:
        Demand(expected.Take(cost, at, limiter.Take(cost, at)), limit, now);
        break;
    }
  }
  return 0;
}
