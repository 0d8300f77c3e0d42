// A store in Redis: each request is one call of the script (redis_swap_script.h), on the node that
// has the keys. In a cluster keys of one request are of one slot.
//
// A state is kept under "weir:state:" and the name of its key, apart from the accounts of
// RedisAuthority: a key may have both, when its rule has changed.
//
// Thread safety: one for each loop, for the loop's thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "authority/redis_calls.h"
#include "authority/swap_store.h"
#include "base/numbered.h"

namespace weir::authority {

class RedisSwapStore final : public SwapStore, private RedisCalls::Caller {
 public:
  // Shares the connections of `calls`, which outlive it.
  explicit RedisSwapStore(RedisCalls& calls);
  // Answers all that is under way.
  ~RedisSwapStore() override { calls_.Abandon(*this); }

  void Swap(std::span<const SwapRequest> requests, SwapReplies& replies) override;
  [[nodiscard]] std::uint16_t PlaceOf(std::string_view key) const override;

  [[nodiscard]] const RedisCalls& calls() const { return calls_; }

 private:
  struct Asked {
    SwapReplies* replies = nullptr;
    Ticket ticket = 0;
    std::size_t keys = 0;
  };

  void OnAnswer(RedisCalls::Call call, Outcome outcome, wire::RespValue answer) override;

  RedisCalls& calls_;
  std::string prefix_;
  Numbered<Asked> asked_;  // by the number of the call
};

}  // namespace weir::authority
