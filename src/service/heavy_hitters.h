// The keys that count most, among any number of them, in a fixed number of places.
//
// The Space-Saving method: a key that has no place takes that of the key with the least, and its
// count goes on from there. So a count is never too low, `excess` says by how much it may be too
// high, and every key with more than 1/kPlaces of all that was added has a place.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir {

// The true count is at most `count` and at least `count - excess`.
struct HeavyKey {
  std::string key;
  std::uint64_t count = 0;
  std::uint64_t excess = 0;

  bool operator==(const HeavyKey&) const = default;
};

class HeavyHitters {
 public:
  static constexpr std::size_t kPlaces = 64;

  void Add(std::string_view key, std::uint64_t count);
  void Clear() { keys_.clear(); }

  // In no order.
  [[nodiscard]] std::span<const HeavyKey> keys() const { return keys_; }
  // What a key that has no place may have been counted at most.
  [[nodiscard]] std::uint64_t unseen() const;
  [[nodiscard]] bool empty() const { return keys_.empty(); }

  // The `most` heaviest keys of several that counted side by side, the heaviest first.
  static std::vector<HeavyKey> Top(std::span<const HeavyHitters* const> parts, std::size_t most);

 private:
  [[nodiscard]] const HeavyKey* Least() const;

  std::vector<HeavyKey> keys_;
};

}  // namespace weir
