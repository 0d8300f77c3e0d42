// How long answers took: counts by duration, exact to 1.6 %.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace weir::bench {

class Histogram {
 public:
  void Add(std::int64_t nanos, std::uint64_t count) {
    counts_[PlaceOf(static_cast<std::uint64_t>(std::max<std::int64_t>(nanos, 0)))] += count;
    total_ += count;
  }

  // The time that `share` of the answers did not exceed.
  [[nodiscard]] double Micros(double share) const {
    const auto wanted = static_cast<std::uint64_t>(share * static_cast<double>(total_));
    std::uint64_t seen = 0;
    for (std::size_t place = 0; place < counts_.size(); ++place) {
      seen += counts_[place];
      if (seen > wanted || (seen == total_ && seen > 0)) return NanosOf(place) / 1000;
    }
    return 0;
  }

 private:
  // Each power of two is cut into 64 parts; below 64 every number has its own place.
  static constexpr int kBits = 6;
  static constexpr std::size_t kParts = std::size_t{1} << kBits;

  static std::size_t PlaceOf(std::uint64_t nanos) {
    if (nanos < kParts) return static_cast<std::size_t>(nanos);
    const auto shift = static_cast<int>(std::bit_width(nanos)) - 1 - kBits;
    return static_cast<std::size_t>(shift) * kParts + static_cast<std::size_t>(nanos >> shift);
  }
  static double NanosOf(std::size_t place) {
    if (place < 2 * kParts) return static_cast<double>(place);
    const std::size_t shift = place / kParts - 1;
    return static_cast<double>((place % kParts + kParts) << shift);
  }

  std::array<std::uint64_t, kParts*(64 - kBits + 1)> counts_{};
  std::uint64_t total_ = 0;
};

}  // namespace weir::bench
