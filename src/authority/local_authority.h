// An authority in memory: for one process, for tests, and as what every other one is compared with.
//
// Answers before Sync() returns. Keys that are as good as never seen are forgotten when the number
// of keys has doubled since the last time that was done, so memory follows the keys that are in
// use.
//
// Thread safety: none; one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>

#include "authority/account.h"
#include "authority/authority.h"

namespace weir::authority {

class LocalAuthority final : public Authority {
 public:
  // Microseconds of any clock that does not run backwards for long; read once for each Sync().
  using MicroClock = std::function<std::uint64_t()>;

  explicit LocalAuthority(MicroClock clock) : clock_(std::move(clock)) {}

  void Sync(std::span<const SyncRequest> requests, Replies& replies) override;

  // The account of a key; all zero if it is not known.
  [[nodiscard]] Account Find(const std::string& key) const;
  [[nodiscard]] const Leaks& leaks() const { return leaks_; }
  [[nodiscard]] std::size_t size() const { return keys_.size(); }

 private:
  struct Entry {
    Account account;
    std::uint64_t forgotten_at = 0;
  };

  void Forget(std::uint64_t now);

  MicroClock clock_;
  std::unordered_map<std::string, Entry> keys_;
  std::size_t forget_at_size_ = 1024;
  Leaks leaks_;
};

}  // namespace weir::authority
