// Random numbers and random limits, chosen where mistakes hide: at borders, one nanosecond and one
// permit to either side of them, and at both ends of what can be said.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>

#include "weir/limit.h"
#include "weir/units.h"

namespace weir::random {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  // From 0 to below `bound`.
  std::uint64_t Below(std::uint64_t bound) {
    return std::uniform_int_distribution<std::uint64_t>(0, bound - 1)(engine_);
  }
  bool OneIn(std::uint64_t n) { return Below(n) == 0; }
  // From `least` to `most`, small numbers as often as large ones.
  std::uint64_t AnySize(std::uint64_t least, std::uint64_t most) {
    const std::uint64_t bits = Below(static_cast<std::uint64_t>(std::bit_width(most)) + 1);
    const std::uint64_t value = bits == 0 ? 0 : engine_() >> (64 - bits);
    return std::clamp(value, least, most);
  }
  template <typename T>
  T OneOf(std::initializer_list<T> choices) {
    return choices.begin()[Below(choices.size())];
  }

 private:
  std::mt19937_64 engine_;
};

// From one per year to one per nanosecond.
Quota AnyQuota(Random& random, std::uint64_t most_permits = std::uint64_t{1} << 63);

enum class Kind {
  kTokenBucket,
  kLeakyBucket,
  kFixedWindow,
  kSlidingWindow,
  kSlidingCounters,
  kSlidingLog,
  kPacer
};

// For tests that are done for each of them.
inline auto AllKinds() {
  return testing::Values(Kind::kTokenBucket, Kind::kLeakyBucket, Kind::kFixedWindow,
                         Kind::kSlidingWindow, Kind::kSlidingCounters, Kind::kSlidingLog,
                         Kind::kPacer);
}
std::string NameOf(const testing::TestParamInfo<Kind>& tested);

// A sound limit.
Limit AnyLimit(Random& random, Kind kind);

Quota QuotaOf(const Algorithm& algorithm);
// What can be taken at once, as stated.
std::uint64_t CapacityOf(const Algorithm& algorithm);
// Whether refusals count.
bool CountsDenied(const Algorithm& algorithm);

}  // namespace weir::random
