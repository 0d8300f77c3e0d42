// An authority in Redis: each request is one call of the script (redis_script.h), on the node that
// has the key. What becomes of a call is redis_calls.h's work.
//
// Thread safety: one for each loop, for the loop's thread only.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "authority/authority.h"
#include "authority/redis_calls.h"
#include "base/numbered.h"
#include "net/loop.h"

namespace weir::authority {

class RedisAuthority final : public Authority, private RedisCalls::Caller {
 public:
  // Begins to connect, for itself alone. REQUIRES: one endpoint at least.
  RedisAuthority(net::Loop& loop, RedisOptions options);
  // Shares the connections of `calls`, which outlive it.
  explicit RedisAuthority(RedisCalls& calls) : calls_(calls) {}
  // Answers all that is under way.
  ~RedisAuthority() override;

  void Sync(std::span<const SyncRequest> requests, Replies& replies) override;

  // What went wrong last, with the address of where it did; empty if nothing ever did.
  [[nodiscard]] const std::string& problem() const { return calls_.problem(); }
  [[nodiscard]] const RedisCounts& counts() const { return calls_.counts(); }
  [[nodiscard]] std::size_t under_way() const { return asked_.size(); }

 private:
  struct Asked {
    Replies* replies = nullptr;
    Ticket ticket = 0;
  };

  void OnAnswer(RedisCalls::Call call, Outcome outcome, wire::RespValue answer) override;

  std::string key_;        // of the request at hand, with its prefix
  Numbered<Asked> asked_;  // by the number of the call
  std::unique_ptr<RedisCalls> own_;
  RedisCalls& calls_;
};

}  // namespace weir::authority
