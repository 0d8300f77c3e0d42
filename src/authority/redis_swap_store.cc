#include "authority/redis_swap_store.h"

#include <chrono>
#include <optional>

#include "authority/redis_swap_script.h"
#include "base/check.h"

namespace weir::authority {

RedisSwapStore::RedisSwapStore(RedisCalls& calls)
    : calls_(calls), prefix_(calls.options().prefix + "state:") {}

std::uint16_t RedisSwapStore::PlaceOf(std::string_view key) const {
  // Without a cluster the name makes no difference.
  if (calls_.options().kind != RedisKind::kCluster) return 0;
  return calls_.SlotFor(prefix_ + std::string(key));
}

void RedisSwapStore::Swap(std::span<const SwapRequest> requests, SwapReplies& replies) {
  const RedisOptions& options = calls_.options();
  const SwapClock clock = options.clock ? SwapClock::kOfHosts : SwapClock::kOfRedis;
  const auto slack = options.clock ? options.clock_slack : std::chrono::milliseconds(0);
  for (const SwapRequest& request : requests) {
    WEIR_CHECK(!request.keys.empty());
    const RedisCalls::Call call = asked_.Put({&replies, request.ticket, request.keys.size()});
    const std::string first = prefix_ + std::string(request.keys.front().name);
    calls_.Send(RedisScript::kSwap, first, *this, call, [&](std::string& command) {
      AppendSwapCommand(request.keys, prefix_, clock, slack, command);
    });
  }
}

void RedisSwapStore::OnAnswer(RedisCalls::Call call, Outcome outcome, wire::RespValue answer) {
  const Asked asked = asked_.Take(call);  // first: who is told may ask for more
  if (outcome != Outcome::kDone) {
    return asked.replies->OnReply(asked.ticket, {.outcome = outcome});
  }
  std::vector<std::string_view> held;
  std::optional<SwapReply> reply = ReadSwapAnswer(answer, asked.keys, held);
  // Whoever answers like that did not execute the script, but what it did nobody knows.
  if (!reply) return asked.replies->OnReply(asked.ticket, {.outcome = Outcome::kUnknown});
  if (calls_.options().clock) {
    reply->now = Instant(std::chrono::microseconds(calls_.options().clock()));
  }
  asked.replies->OnReply(asked.ticket, *reply);
}

}  // namespace weir::authority
