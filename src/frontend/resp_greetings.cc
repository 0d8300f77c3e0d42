// What clients send on connect, before they come to what they want: who they are, which version
// they speak, and whether anybody is there.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ascii.h"
#include "base/constant_time.h"
#include "frontend/resp_session.h"

namespace weir {
namespace {

using wire::RespVersion;
using wire::RespWriter;

bool IsWord(std::string_view text, std::string_view word) { return SameIgnoringCase(text, word); }

constexpr std::string_view kServer = "weir";
constexpr std::string_view kDefaultUser = "default";  // of clients that name none
constexpr std::string_view kImitated = "7.0.0";       // the Redis whose commands clients may expect

void WriteHello(RespWriter& reply, RespVersion version) {
  reply.Map(7);
  reply.Bulk("server");
  reply.Bulk(kServer);
  reply.Bulk("version");
  reply.Bulk(kImitated);
  reply.Bulk("proto");
  reply.Integer(static_cast<std::int64_t>(version));
  reply.Bulk("id");
  reply.Integer(1);
  reply.Bulk("mode");
  reply.Bulk("standalone");
  reply.Bulk("role");
  reply.Bulk("master");
  reply.Bulk("modules");
  reply.Array(0);
}

}  // namespace

void RespSession::Ping(Arguments arguments, RespWriter& reply) {
  if (arguments.size() > 2) {
    WrongCount("PING", reply);
  } else if (arguments.size() == 2) {
    reply.Bulk(arguments[1]);
  } else {
    reply.Simple("PONG");
  }
}

void RespSession::Echo(Arguments arguments, RespWriter& reply) { reply.Bulk(arguments[1]); }

// HELLO [version [AUTH user password] [SETNAME name]]
void RespSession::Hello(Arguments arguments, RespWriter& reply) {
  std::optional<RespVersion> version;
  if (arguments.size() > 1) {
    if (arguments[1] == "2") version = RespVersion::k2;
    if (arguments[1] == "3") version = RespVersion::k3;
    if (!version) {
      reply.Error("NOPROTO unsupported protocol version");
      return;
    }
  }
  for (std::size_t i = 2; i < arguments.size();) {
    if (IsWord(arguments[i], "AUTH") && i + 2 < arguments.size()) {
      if (!Authenticate(arguments[i + 1], arguments[i + 2])) {
        reply.Error("WRONGPASS invalid username-password pair or user is disabled.");
        return;
      }
      i += 3;
    } else if (IsWord(arguments[i], "SETNAME") && i + 1 < arguments.size()) {
      i += 2;
    } else {
      reply.Error("ERR Syntax error in HELLO option '" + std::string(arguments[i].substr(0, 64)) +
                  "'");
      return;
    }
  }
  if (!authorized_) {
    reply.Error(
        "NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO "
        "<proto> AUTH <user> <pass> option can be used to authenticate the client and select the "
        "RESP protocol version at the same time");
    return;
  }
  if (version) version_ = *version;
  reply.set_version(version_);
  WriteHello(reply, version_);
}

// AUTH [user] password-or-token
void RespSession::Auth(Arguments arguments, RespWriter& reply) {
  if (arguments.size() > 3) {
    WrongCount("AUTH", reply);
  } else if (!options_.needs_auth()) {
    reply.Error(
        "ERR AUTH <password> called without any password configured for the default user. Are you "
        "sure your configuration is correct?");
  } else if (!Authenticate(arguments.size() == 3 ? arguments[1] : kDefaultUser, arguments.back())) {
    reply.Error("WRONGPASS invalid username-password pair or user is disabled.");
  } else {
    reply.Simple("OK");
  }
}

bool RespSession::Authenticate(std::string_view user, std::string_view secret) {
  if (!options_.needs_auth()) return true;
  if ((!options_.password.empty() && SameSecret(secret, options_.password)) ||
      IsToken(user, secret)) {
    authorized_ = true;
    return true;
  }
  if (++failed_auths_ >= kMostFailedAuths) closing_ = true;
  return false;
}

// Any role will do: to ask for a decision is less than what the least of them may.
bool RespSession::IsToken(std::string_view user, std::string_view secret) const {
  if (options_.access == nullptr) return false;
  const Caller caller = options_.access->Identify(secret);
  return caller.role != Role::kNone && (user == kDefaultUser || user == caller.name);
}

void RespSession::Client(Arguments arguments, RespWriter& reply) {
  if (IsWord(arguments[1], "GETNAME")) {
    reply.Null();
  } else if (IsWord(arguments[1], "ID")) {
    reply.Integer(1);
  } else {
    reply.Simple("OK");  // SETNAME, SETINFO, TRACKING OFF, NO-EVICT...: nothing hangs on them
  }
}

void RespSession::Select(Arguments arguments, RespWriter& reply) {
  if (arguments[1] == "0") {
    reply.Simple("OK");
  } else {
    reply.Error("ERR DB index is out of range");
  }
}

void RespSession::Info(Arguments /*arguments*/, RespWriter& reply) {
  std::string text = "# Server\r\nredis_version:" + std::string(kImitated) +
                     "\r\nredis_mode:standalone\r\nserver_name:" + std::string(kServer) +
                     "\r\n# Replication\r\nrole:master\r\n# Memory\r\nused_memory:" +
                     std::to_string(checker_.ledger().bytes()) + "\r\n";
  reply.Verbatim(text);
}

void RespSession::Reset(Arguments /*arguments*/, RespWriter& reply) {
  version_ = RespVersion::k2;
  reply.set_version(version_);
  authorized_ = !options_.needs_auth();
  reply.Simple("RESET");
}

}  // namespace weir
