// Who asks most, who is refused most, and the last decisions: for people who look, in bounded
// memory and a bounded part of the time (sampling.h).
//
//   Checker --IsTurn?--> Observed decision --Add--> a shard per thread: per rule the heaviest keys,
//                                                    and the last decisions --Top, Latest--> people
//
// The heaviest keys are those of the minute that runs and of the one before it.
//
// Thread safety: everything may be called by any number of threads.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/core_counters.h"
#include "service/heavy_hitters.h"
#include "service/sampling.h"
#include "service/seen_decision.h"

namespace weir {

class Watch {
 public:
  // Rules whose keys are kept, by thread; those beyond are not watched until others fall silent.
  static constexpr std::size_t kMostRules = 512;
  // Decisions that are kept, by thread: so many that passed, and so many that were refused.
  static constexpr std::size_t kKept = 128;
  // Keys are cut off behind so many bytes.
  static constexpr std::size_t kLongestKey = 128;

  explicit Watch(std::uint64_t seed) : seed_(seed) {}
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Whether the caller's decision is to be added: what every decision costs.
  [[nodiscard]] bool IsTurn(Instant now) noexcept {
    const std::uint32_t thread = ThreadNumber::IfTaken();
    if (thread > ThreadNumber::kShared) return true;  // its first time
    Sampling* shard = shards_[thread].load(std::memory_order_acquire);
    return shard == nullptr || shard->IsTurn(now);
  }

  // What one rule had to do with a decision.
  struct Use {
    std::string_view rule;
    std::string_view key;
    std::uint64_t consumed = 0;
    bool denied = false;  // in shadow too
  };
  // REQUIRES: IsTurn()
  void Add(SeenDecision decision, std::span<const Use> uses);

  enum class By : std::uint8_t { kConsumed, kDenied };
  struct Heaviest {
    Instant since{};
    // Counts are exact if this is 1; else one in so many was looked at, and they are estimates.
    std::uint32_t one_in = 1;
    std::vector<HeavyKey> keys;
  };
  [[nodiscard]] Heaviest Top(std::string_view space, std::string_view rule, By by, std::size_t most,
                             Instant now) const;

  struct Filter {
    std::string_view space = {};  // empty: all
    std::string_view rule = {};   // that had a say
    std::optional<bool> allowed = {};
  };
  // The newest first.
  [[nodiscard]] std::vector<SeenDecision> Latest(const Filter& filter, std::size_t most) const;

 private:
  struct Shard;  // is a Sampling: all of it that a decision has to see
  Shard& MyShard();
  // Of all threads that have one.
  [[nodiscard]] std::vector<const Shard*> Shards() const;

  std::uint64_t seed_;
  std::array<std::atomic<Sampling*>, ThreadNumber::kShared + 1> shards_{};
};

}  // namespace weir
