// Streams of keys: which of n keys is asked for, over and over.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace weir::bench {

using Stream = std::vector<std::uint32_t>;

inline Stream UniformStream(std::uint32_t keys, std::size_t length, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Stream stream(length);
  for (std::uint32_t& key : stream) key = static_cast<std::uint32_t>(random() % keys);
  return stream;
}

// The k-th most popular key is asked for in proportion to 1 / k^0.99 (Gray et al., as in YCSB).
// Popular keys are scattered over the key space.
inline Stream ZipfStream(std::uint32_t keys, std::size_t length, std::uint64_t seed) {
  constexpr double kTheta = 0.99;
  double zeta = 0;
  for (std::uint32_t k = 1; k <= keys; ++k) zeta += 1 / std::pow(k, kTheta);
  const double zeta2 = 1 + std::pow(0.5, kTheta);
  const double alpha = 1 / (1 - kTheta);
  const double eta = (1 - std::pow(2.0 / keys, 1 - kTheta)) / (1 - zeta2 / zeta);
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform;
  Stream stream(length);
  for (std::uint32_t& key : stream) {
    const double u = uniform(random);
    std::uint64_t rank = 0;
    if (u * zeta >= 1) {
      rank = u * zeta < zeta2
                 ? 1
                 : static_cast<std::uint64_t>(keys * std::pow(eta * u - eta + 1, alpha));
    }
    key = static_cast<std::uint32_t>(rank * 2654435761U % keys);
  }
  return stream;
}

}  // namespace weir::bench
