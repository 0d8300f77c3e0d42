// Chance that is the same on every machine: the distributions of the standard library are not.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

namespace weir::sim {

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : bits_(seed) {}

  // From 0 up to but not including 1.
  double Unit() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }
  bool Happens(double probability) { return probability > 0 && Unit() < probability; }
  std::uint64_t Below(std::uint64_t n) { return n == 0 ? 0 : bits_() % n; }
  // The time to the next of events that come at a mean rate of one.
  double Exponential() { return -std::log1p(-Unit()); }

 private:
  std::mt19937_64 bits_;
};

}  // namespace weir::sim
