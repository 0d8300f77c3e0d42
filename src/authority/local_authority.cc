#include "authority/local_authority.h"

#include <algorithm>

namespace weir::authority {

void LocalAuthority::Sync(std::span<const SyncRequest> requests, Replies& replies) {
  const std::uint64_t now = clock_();
  for (const SyncRequest& request : requests) {
    Entry& entry = keys_[std::string(request.key)];
    if (entry.account == Account{}) entry.account.at = now;
    const SyncReply reply = Execute(request, entry.account, now, &leaks_);
    entry.forgotten_at =
        now + static_cast<std::uint64_t>(ForgottenIn(entry.account, *request.terms).count());
    replies.OnReply(request.ticket, reply);
  }
  if (keys_.size() >= forget_at_size_) Forget(now);
}

Account LocalAuthority::Find(const std::string& key) const {
  const auto found = keys_.find(key);
  return found == keys_.end() ? Account{} : found->second.account;
}

void LocalAuthority::Forget(std::uint64_t now) {
  std::erase_if(keys_, [now](const auto& key) { return key.second.forgotten_at <= now; });
  forget_at_size_ = std::max<std::size_t>(1024, 2 * keys_.size());
}

}  // namespace weir::authority
