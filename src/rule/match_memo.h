// Which rules a request matches, remembered: requests resemble each other.
//
// What rules ask about (path and method, say) is a small part of a request, and the same again and
// again. Their values are known here by a hash of 128 bits with a seed that nobody outside can
// guess, just as the keys of clients are, and lead to the rules that were found for them before.
// Where rules ask about something that is always new, remembering is given up, and tried again now
// and then.
//
// Thread safety: none; a thread has one of its own.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "rule/key.h"
#include "rule/rulebook.h"

namespace weir::rule {

class MatchMemo {
 public:
  // What space.Find() finds.
  void Find(const Space& space, const Values& values, std::uint64_t seed,
            std::vector<std::uint32_t>& found) {
    if (misses_ == kMostMisses && ++passed_over_ % kTryAgain != 0) {
      space.Find(values, found);
      return;
    }
    KeyBytes bytes(space.serial(), seed);
    for (const Schema::Number attribute : space.asked()) {
      if (values.Has(attribute)) {
        bytes.Add(values[attribute]);
      } else {
        bytes.AddAbsent();
      }
    }
    const XXH128_hash_t hash =
        XXH3_128bits_withSeed(bytes.bytes().data(), bytes.bytes().size(), seed);
    Entry& entry = entries_[hash.low64 % kEntries];
    if (entry.low == hash.low64 && entry.high == hash.high64) {
      found.insert(found.end(), entry.rules.begin(), entry.rules.begin() + entry.count);
      misses_ = std::max(misses_ - 1, 0);
      return;
    }
    misses_ = std::min(misses_ + 1, kMostMisses);
    space.Find(values, found);
    if (found.size() > entry.rules.size()) return;
    entry.low = hash.low64;
    entry.high = hash.high64;
    entry.count = static_cast<std::uint32_t>(found.size());
    std::copy(found.begin(), found.end(), entry.rules.begin());
  }

 private:
  struct alignas(64) Entry {
    std::uint64_t low = 0;
    std::uint64_t high = 0;
    std::uint32_t count = 0;
    std::array<std::uint32_t, 11> rules{};
  };
  static constexpr std::size_t kEntries = 1024;
  static constexpr int kMostMisses = 4096;
  static constexpr std::uint32_t kTryAgain = 64;

  std::array<Entry, kEntries> entries_{};
  int misses_ = 0;  // less the hits
  std::uint32_t passed_over_ = 0;
};

}  // namespace weir::rule
