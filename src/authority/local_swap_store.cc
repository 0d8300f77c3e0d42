#include "authority/local_swap_store.h"

#include <algorithm>
#include <vector>

#include "base/time.h"

namespace weir::authority {

void LocalSwapStore::Swap(std::span<const SwapRequest> requests, SwapReplies& replies) {
  const Instant now = clock_();
  for (const SwapRequest& request : requests) Execute(request, now, replies);
  if (keys_.size() >= sweep_at_size_) Sweep(now);
}

void LocalSwapStore::Execute(const SwapRequest& request, Instant now, SwapReplies& replies) {
  std::vector<std::string> held;  // copies: who is told may swap again
  bool is_as_seen = true;
  for (const SwapKey& key : request.keys) {
    held.emplace_back(Held(key.name, now));
    is_as_seen = is_as_seen && held.back().substr(0, kStampBytes) == key.seen;
  }
  if (!is_as_seen) {
    const std::vector<std::string_view> views(held.begin(), held.end());
    return replies.OnReply(request.ticket, {.is_as_seen = false, .now = now, .held = views});
  }
  for (const SwapKey& key : request.keys) {
    if (key.value.empty()) continue;
    keys_[std::string(key.name)] = {std::string(key.value), Later(now, key.ttl)};
  }
  replies.OnReply(request.ticket, {.is_as_seen = true, .now = now});
}

std::string_view LocalSwapStore::Held(std::string_view key, Instant now) const {
  const auto found = keys_.find(std::string(key));
  return found == keys_.end() || found->second.until <= now ? std::string_view()
                                                            : found->second.value;
}

void LocalSwapStore::Sweep(Instant now) {
  std::erase_if(keys_, [now](const auto& key) { return key.second.until <= now; });
  sweep_at_size_ = std::max<std::size_t>(1024, 2 * keys_.size());
}

}  // namespace weir::authority
