// Other ways to enforce one limit on many hosts, as they are published: to compare with.
//
// Models of their rules, in plain floating point; none of this ships. Those that exchange anything
// do so every 100 ms.
#pragma once

#include <memory>

#include "sim/events.h"
#include "sim/method.h"
#include "sim/scenario.h"

namespace weir::sim {

struct RivalOptions {
  int hosts;
  double rate;
  double burst;
  Nanos one_way;
  std::uint64_t seed;
};

// Each host has the n-th part of the limit.
std::unique_ptr<Method> StaticSplit(const RivalOptions&, Events&, OnDecided);
// Every request is decided by one bucket, a round trip away.
std::unique_ptr<Method> CentralStrict(const RivalOptions&, Events&, OnDecided);
// Each host has the whole limit and tells all others what it used; buckets go below zero.
std::unique_ptr<Method> Broadcast(const RivalOptions&, Events&, OnDecided);
// Each host has a copy of one bucket, tells it what it used and learns its level.
std::unique_ptr<Method> PlainWriteBack(const RivalOptions&, Events&, OnDecided);
// A center divides the rate by demand.
std::unique_ptr<Method> RateShares(const RivalOptions&, Events&, OnDecided);
// Hosts take chunks of a quarter of their n-th part from a store that needs 6 ms.
std::unique_ptr<Method> QuotaChunks(const RivalOptions&, Events&, OnDecided);

}  // namespace weir::sim
