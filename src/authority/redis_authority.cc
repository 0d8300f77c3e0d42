#include "authority/redis_authority.h"

#include <optional>
#include <utility>

#include "authority/redis_script.h"

namespace weir::authority {

RedisAuthority::RedisAuthority(net::Loop& loop, RedisOptions options)
    : own_(std::make_unique<RedisCalls>(loop, std::move(options))), calls_(*own_) {}

RedisAuthority::~RedisAuthority() {
  if (own_) {
    own_.reset();  // says of each request whether it was sent
  } else {
    calls_.Abandon(*this);
  }
}

void RedisAuthority::Sync(std::span<const SyncRequest> requests, Replies& replies) {
  const RedisOptions& options = calls_.options();
  const ScriptTime time = options.clock
                              ? ScriptTime{.now = options.clock(), .slack = options.clock_slack}
                              : ScriptTime{};
  for (const SyncRequest& request : requests) {
    key_ = options.prefix;
    key_ += request.key;
    const RedisCalls::Call call = asked_.Put({&replies, request.ticket});
    calls_.Send(RedisScript::kSync, key_, *this, call,
                [&](std::string& command) { AppendSyncCommand(request, key_, time, command); });
  }
}

void RedisAuthority::OnAnswer(RedisCalls::Call call, Outcome outcome, wire::RespValue answer) {
  const Asked asked = asked_.Take(call);  // first: who is told may ask for more
  if (outcome != Outcome::kDone) {
    return asked.replies->OnReply(asked.ticket, {.outcome = outcome});
  }
  const std::optional<SyncReply> reply = ReadSyncAnswer(answer);
  // Whoever answers like that did not execute the script, but what it did nobody knows.
  asked.replies->OnReply(asked.ticket, reply ? *reply : SyncReply{.outcome = Outcome::kUnknown});
}

}  // namespace weir::authority
