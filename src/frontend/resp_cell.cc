// CL.THROTTLE and THROTTLE, whose limit comes with each command, and what can be done with their
// keys.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "base/ascii.h"
#include "frontend/cell_shape.h"
#include "frontend/resp_session.h"
#include "service/policy.h"

namespace weir {
namespace {

using wire::RespWriter;

void Tell(CellDialect dialect, const Decision& decision, std::int64_t limit, RespWriter& reply) {
  const auto remaining = static_cast<std::int64_t>(decision.remaining.count);
  const auto retry = [&](std::int64_t if_allowed) {
    if (decision) return if_allowed;
    return decision.verdict == Verdict::kNever ? -1 : SecondsUp(decision.retry_after);
  };
  const std::int64_t reset = SecondsUp(decision.reset_after);
  if (dialect == CellDialect::kRedisCell) {
    reply.ArrayOfIntegers(decision ? 0 : 1, limit, remaining, retry(-1), reset);
  } else {
    reply.ArrayOfIntegers(decision ? 1 : 0, limit, remaining, reset, retry(0));
  }
}

}  // namespace

void RespSession::Decide(const CellCommand& command, KeyHash key, CellDialect dialect,
                         RespWriter& reply) {
  const Decision decision = command.Run(checker_.ledger(), key, now_);
  if (checker_.observes()) checker_.counters().CountCell(decision.allowed());
  Tell(dialect, decision, command.limit, reply);
}

void RespSession::ReadCell(CellReader& reader, CellDialect dialect, Arguments arguments,
                           RespWriter& reply) {
  const Result<CellCommand>& command = reader.Read(arguments);
  if (!command) {
    reply.Error(command.error().message);
    return;
  }
  Decide(*command, CellCommand::HashOf(checker_.ledger(), command->key), dialect, reply);
  if (cell_misses_++ % kPatience != 0) return;
  if (cell_shape_ == nullptr) cell_shape_ = std::make_unique<CellShape>();
  cell_shape_->Learn(arguments, *command, dialect);
}

void RespSession::CellThrottle(Arguments arguments, RespWriter& reply) {
  ReadCell(redis_cell_, CellDialect::kRedisCell, arguments, reply);
}

void RespSession::Throttle(Arguments arguments, RespWriter& reply) {
  ReadCell(throttlecrab_, CellDialect::kThrottlecrab, arguments, reply);
}

// All of a run are read before the first is decided: by then their memory is on its way.
RespSession::Done RespSession::ThrottleLikeLast(std::string_view bytes, RespWriter& reply) {
  std::array<KeyHash, kMostInRun> keys;
  Done done;
  while (done.requests < keys.size()) {
    const std::size_t size = cell_shape_->Read(bytes.substr(done.size));
    if (size == 0) break;
    KeyHash& key = keys[done.requests++];
    key = CellCommand::HashOf(checker_.ledger(), cell_shape_->command().key);
    checker_.ledger().Prefetch(key);
    done.size += size;
  }
  for (std::size_t i = 0; i < done.requests; ++i) {
    Decide(cell_shape_->command(), keys[i], cell_shape_->dialect(), reply);
  }
  return done;
}

void RespSession::Delete(Arguments arguments, RespWriter& reply) {
  std::int64_t deleted = 0;
  for (const std::string_view key : arguments.subspan(1)) {
    if (CellCommand::ForgottenIn(checker_.ledger(), key, now_) > Nanos(0)) ++deleted;
    CellCommand::Forget(checker_.ledger(), key, now_);
  }
  reply.Integer(deleted);
}

void RespSession::Exists(Arguments arguments, RespWriter& reply) {
  std::int64_t found = 0;
  for (const std::string_view key : arguments.subspan(1)) {
    if (CellCommand::ForgottenIn(checker_.ledger(), key, now_) > Nanos(0)) ++found;
  }
  reply.Integer(found);
}

void RespSession::TimeToLive(Arguments arguments, RespWriter& reply) {
  const Nanos left = CellCommand::ForgottenIn(checker_.ledger(), arguments[1], now_);
  if (left == Nanos(0)) {
    reply.Integer(-2);  // there is no such key
  } else {
    reply.Integer(SameIgnoringCase(arguments[0], "TTL") ? SecondsUp(left) : MillisUp(left));
  }
}

}  // namespace weir
