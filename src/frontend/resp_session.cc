#include "frontend/resp_session.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "frontend/cell_shape.h"
#include "frontend/check_shape.h"

namespace weir {
namespace {

using wire::RespWriter;

bool IsWord(std::string_view text, std::string_view word) { return SameIgnoringCase(text, word); }

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

}  // namespace

struct RespSession::Command {
  std::string_view name;
  int arity;  // with the name; negative: at least so many
  void (RespSession::*run)(Arguments, RespWriter&);
  bool before_auth;
  bool has_key;
};

std::span<const RespSession::Command> RespSession::Commands() {
  // The first are asked for the most.
  static constexpr std::array<Command, 18> kCommands = {{
      {"CL.THROTTLE", -1, &RespSession::CellThrottle, false, true},
      {"THROTTLE", -1, &RespSession::Throttle, false, true},
      {"WEIR.CHECK", -4, &RespSession::Check, false, false},
      {"WEIR.PEEK", -4, &RespSession::Check, false, false},
      {"PING", -1, &RespSession::Ping, false, false},
      {"DEL", -2, &RespSession::Delete, false, true},
      {"UNLINK", -2, &RespSession::Delete, false, true},
      {"EXISTS", -2, &RespSession::Exists, false, true},
      {"TTL", 2, &RespSession::TimeToLive, false, true},
      {"PTTL", 2, &RespSession::TimeToLive, false, true},
      {"ECHO", 2, &RespSession::Echo, false, false},
      {"HELLO", -1, &RespSession::Hello, true, false},
      {"AUTH", -2, &RespSession::Auth, true, false},
      {"CLIENT", -2, &RespSession::Client, false, false},
      {"COMMAND", -1, &RespSession::ListCommands, false, false},
      {"SELECT", 2, &RespSession::Select, false, false},
      {"INFO", -1, &RespSession::Info, false, false},
      {"RESET", 1, &RespSession::Reset, true, false},
  }};
  return kCommands;
}

void RespSession::WrongCount(std::string_view command, RespWriter& reply) {
  reply.Error("ERR wrong number of arguments for '" + Lower(command) + "' command");
}

void RespSession::ListCommands(Arguments arguments, RespWriter& reply) {
  const auto commands = Commands();
  if (arguments.size() > 1 && IsWord(arguments[1], "COUNT")) {
    reply.Integer(static_cast<std::int64_t>(commands.size()));
    return;
  }
  if (arguments.size() > 1) {  // DOCS, INFO...: there is nothing to say, and clients go on
    reply.Array(0);
    return;
  }
  reply.Array(commands.size());
  for (const Command& command : commands) {
    reply.Array(6);
    reply.Bulk(Lower(command.name));
    reply.Integer(command.arity);
    reply.Array(1);
    reply.Simple("fast");
    const int key = command.has_key ? 1 : 0;
    reply.Integer(key);
    reply.Integer(key);
    reply.Integer(key);
  }
}

const RespSession::Command* RespSession::Find(std::string_view name) {
  const auto commands = Commands();
  const auto command = std::find_if(commands.begin(), commands.end(),
                                    [&](const Command& c) { return IsWord(name, c.name); });
  return command != commands.end() ? &*command : nullptr;
}

bool RespSession::RunUnknown(std::string_view name, RespWriter& reply) {
  if (IsWord(name, "QUIT")) {
    reply.Simple("OK");
    return false;
  }
  // A browser that was made to talk to this port: what stands in the body is not its user's wish.
  // As Redis does, nothing more is read of it.
  if (IsWord(name, "POST") || IsWord(name, "HOST:")) return false;
  reply.Error("ERR unknown command '" + std::string(name.substr(0, 128)) + "'");
  return true;
}

RespSession::RespSession(Checker& checker, const RespOptions& options, ClusterSeat seat)
    : checker_(checker), options_(options), checks_(seat), authorized_(!options.needs_auth()) {}
RespSession::RespSession(RespSession&&) noexcept = default;
RespSession::~RespSession() = default;

// Inlined into Serve(), its only caller: a call would save six registers for each command.
[[gnu::always_inline]] inline bool RespSession::Run(Arguments arguments, RespWriter& reply) {
  const Command* command = last_command_;
  if (!IsWord(arguments[0], command->name)) {
    command = Find(arguments[0]);
    if (command == nullptr) return RunUnknown(arguments[0], reply);
    last_command_ = command;
  }
  const auto count = static_cast<int>(arguments.size());
  if (!authorized_ && !command->before_auth) {
    reply.Error("NOAUTH Authentication required.");
  } else if (command->arity > 0 ? count != command->arity : count < -command->arity) {
    WrongCount(command->name, reply);
  } else {
    (this->*command->run)(arguments, reply);
  }
  return true;
}

// Clients say the same again and again. Inlined: who does not, does not pay for a call.
[[gnu::always_inline]] inline RespSession::Done RespSession::RunLikeLast(std::string_view bytes,
                                                                         RespWriter& reply) {
  if (!authorized_ || reader_.has_begun()) return {};
  Done done;
  if (check_shape_ != nullptr) done = CheckLikeLast(bytes, reply);
  if (done.requests == 0 && cell_shape_ != nullptr) done = ThrottleLikeLast(bytes, reply);
  return done;
}

RespSession::Progress RespSession::Serve(std::string_view bytes, Instant now, std::string& out) {
  now_ = now;
  Progress progress;
  const std::uint64_t failed_before = failed_auths_;
  RespWriter reply(out, version_);
  if (checks_.may_wait()) checks_.GoTo(0);
  while (!closing_) {
    if (reply.size() >= kEnough) {
      progress.more = true;
      break;
    }
    if (progress.consumed == bytes.size()) break;  // most reads end where a command does
    const std::string_view unread = bytes.substr(progress.consumed);
    if (const Done done = RunLikeLast(unread, reply); done.requests > 0) {
      progress.consumed += done.size;
      progress.requests += done.requests;
      continue;
    }
    const wire::RespRequest request = reader_.Read(unread, arguments_);
    if (request.status == wire::RespStatus::kNeedMore) {
      progress.consumed += request.consumed;
      break;
    }
    if (request.status == wire::RespStatus::kBad) {
      reply.Error("ERR " + std::string(request.problem));
      closing_ = true;
    } else if (!Run(arguments_, reply)) {
      closing_ = true;
    }
    if (checks_.may_wait()) {
      if (checks_.IsWaiting()) {
        AskAhead(bytes.substr(progress.consumed + request.consumed));
        progress.waits = true;
        break;
      }
      checks_.Tell();
    }
    progress.consumed += request.consumed;
    ++progress.requests;
  }
  progress.errors = reply.errors();
  progress.failed_auths = failed_auths_ - failed_before;
  if (!progress.waits) checks_.Clear();
  progress.close = closing_;
  return progress;
}

void RespSession::AskAhead(std::string_view bytes) {
  std::string unsaid;
  RespWriter reply(unsaid, version_);
  while (!checks_.is_full()) {
    const wire::RespRequest request = reader_.Read(bytes, arguments_);
    if (request.status != wire::RespStatus::kCommand) break;
    const Command* command = Find(arguments_[0]);
    if (command == nullptr || command->run != &RespSession::Check) break;
    Run(arguments_, reply);
    bytes.remove_prefix(request.consumed);
  }
  reader_ = wire::RespReader();
}

}  // namespace weir
