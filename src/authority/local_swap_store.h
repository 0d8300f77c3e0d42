// A store in memory: for one process, for tests, and as what the one in Redis is compared with.
//
// Answers before Swap() returns. A key is gone when its time to live is over.
//
// Thread safety: none; one thread at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "authority/swap_store.h"
#include "weir/units.h"

namespace weir::authority {

class LocalSwapStore final : public SwapStore {
 public:
  using TimeSource = std::function<Instant()>;

  // The clock is read once for each Swap().
  explicit LocalSwapStore(TimeSource clock) : clock_(std::move(clock)) {}

  void Swap(std::span<const SwapRequest> requests, SwapReplies& replies) override;
  [[nodiscard]] std::uint16_t PlaceOf(std::string_view /*key*/) const override { return 0; }

  // What a key holds; empty if it is not there.
  [[nodiscard]] std::string_view Held(std::string_view key, Instant now) const;
  void Forget(const std::string& key) { keys_.erase(key); }
  [[nodiscard]] std::size_t size() const { return keys_.size(); }

 private:
  struct Entry {
    std::string value;
    Instant until;
  };

  void Execute(const SwapRequest& request, Instant now, SwapReplies& replies);
  void Sweep(Instant now);

  TimeSource clock_;
  std::unordered_map<std::string, Entry> keys_;
  std::size_t sweep_at_size_ = 1024;
};

}  // namespace weir::authority
