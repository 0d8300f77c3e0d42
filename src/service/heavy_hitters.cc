#include "service/heavy_hitters.h"

#include <algorithm>
#include <map>

namespace weir {

void HeavyHitters::Add(std::string_view key, std::uint64_t count) {
  for (HeavyKey& heavy : keys_) {
    if (heavy.key != key) continue;
    heavy.count += count;
    return;
  }
  if (keys_.size() < kPlaces) {
    keys_.push_back({std::string(key), count, 0});
    return;
  }
  HeavyKey& least = keys_[static_cast<std::size_t>(Least() - keys_.data())];
  least.excess = least.count;
  least.count += count;
  least.key.assign(key);
}

const HeavyKey* HeavyHitters::Least() const {
  return &*std::min_element(
      keys_.begin(), keys_.end(),
      [](const HeavyKey& one, const HeavyKey& other) { return one.count < other.count; });
}

std::uint64_t HeavyHitters::unseen() const { return keys_.size() < kPlaces ? 0 : Least()->count; }

std::vector<HeavyKey> HeavyHitters::Top(std::span<const HeavyHitters* const> parts,
                                        std::size_t most) {
  std::uint64_t unseen = 0;
  for (const HeavyHitters* part : parts) unseen += part->unseen();
  std::map<std::string_view, HeavyKey> sums;
  for (const HeavyHitters* part : parts) {
    for (const HeavyKey& heavy : part->keys()) {
      // Where a key has no place it may have been counted all the same.
      HeavyKey& sum =
          sums.try_emplace(heavy.key, HeavyKey{heavy.key, unseen, unseen}).first->second;
      sum.count += heavy.count - part->unseen();
      sum.excess += heavy.excess - part->unseen();
    }
  }
  std::vector<HeavyKey> top;
  top.reserve(sums.size());
  for (auto& [key, sum] : sums) top.push_back(std::move(sum));
  // What is certain counts most; equals by name, so that the order is the same every time.
  const auto heavier = [](const HeavyKey& one, const HeavyKey& other) {
    const std::uint64_t sure = one.count - one.excess;
    const std::uint64_t other_sure = other.count - other.excess;
    if (sure != other_sure) return sure > other_sure;
    return one.count != other.count ? one.count > other.count : one.key < other.key;
  };
  const auto end = top.begin() + static_cast<std::ptrdiff_t>(std::min(most, top.size()));
  std::partial_sort(top.begin(), end, top.end(), heavier);
  top.erase(end, top.end());
  return top;
}

}  // namespace weir
