// What one Redis client says, and what it is told: one object per connection.
//
//   CL.THROTTLE key max_burst count period [quantity]    to redis-cell's letter
//   THROTTLE key max_burst count period [quantity]       to throttlecrab's
//   WEIR.CHECK namespace [COST n] name value ...         by rule, with times in milliseconds
//   WEIR.PEEK namespace [COST n] name value ...          the same, and takes nothing
//   DEL, EXISTS, TTL, PTTL                               of keys of the first two
//   HELLO AUTH CLIENT COMMAND SELECT PING ECHO RESET INFO QUIT    what clients send on connect
//
// Bytes in, bytes out: it owns no socket and reads no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/cell_command.h"
#include "frontend/check_series.h"
#include "frontend/traffic.h"
#include "service/access.h"
#include "service/checker.h"
#include "wire/resp_reply.h"
#include "wire/resp_request.h"

namespace weir {

class CellShape;
class CheckShape;
enum class CellDialect : std::uint8_t;

struct RespOptions {
  std::string password = {};       // empty: there is none
  const Access* access = nullptr;  // whose tokens are as good as the password; null: nobody's
  Traffic* traffic = nullptr;      // null: nobody counts

  // Whether clients have to say one or the other.
  [[nodiscard]] bool needs_auth() const { return !password.empty() || access != nullptr; }
};

class RespSession {
 public:
  struct Progress {
    std::size_t consumed = 0;
    bool close = false;  // when what was written has gone out
    bool more = false;   // enough was written for now: there is more to do in what is unread
    bool waits = false;  // until its waiter is told, with what is unread
    std::uint64_t requests = 0;
    std::uint64_t errors = 0;        // of these, answered with a mistake
    std::uint64_t failed_auths = 0;  // of these, a wrong password or token
  };
  // Bytes of answers after which it stops until they have gone out.
  static constexpr std::size_t kEnough = std::size_t{256} << 10;
  // Wrong passwords and tokens after which the connection ends: who guesses has to come again, and
  // is counted when it does.
  static constexpr std::uint64_t kMostFailedAuths = 3;

  RespSession(Checker& checker, const RespOptions& options, ClusterSeat seat = {});
  RespSession(RespSession&&) noexcept;
  ~RespSession();

  // Answers all commands that are complete in `bytes`, in order, at one instant.
  Progress Serve(std::string_view bytes, Instant now, std::string& out);
  // The client has gone while it was waited for.
  void Abandon(Instant now) { checks_.Abandon(checker_, now); }

 private:
  using Arguments = std::span<const std::string_view>;
  struct Command;
  static std::span<const Command> Commands();
  // Null: there is no such command.
  [[gnu::noinline]] static const Command* Find(std::string_view name);

  // False if the connection is to be closed.
  bool Run(Arguments arguments, wire::RespWriter& reply);
  static bool RunUnknown(std::string_view name, wire::RespWriter& reply);

  static void WrongCount(std::string_view command, wire::RespWriter& reply);

  // What clients send on connect (resp_greetings.cc).
  void Ping(Arguments arguments, wire::RespWriter& reply);
  void Echo(Arguments arguments, wire::RespWriter& reply);
  void Hello(Arguments arguments, wire::RespWriter& reply);
  void Auth(Arguments arguments, wire::RespWriter& reply);
  void Client(Arguments arguments, wire::RespWriter& reply);
  void Select(Arguments arguments, wire::RespWriter& reply);
  void Info(Arguments arguments, wire::RespWriter& reply);
  void Reset(Arguments arguments, wire::RespWriter& reply);
  // Notes it either way.
  bool Authenticate(std::string_view user, std::string_view secret);
  [[nodiscard]] bool IsToken(std::string_view user, std::string_view secret) const;

  void ListCommands(Arguments arguments, wire::RespWriter& reply);
  void Decide(const CellCommand& command, KeyHash key, CellDialect dialect,
              wire::RespWriter& reply);
  void ReadCell(CellReader& reader, CellDialect dialect, Arguments arguments,
                wire::RespWriter& reply);
  void CellThrottle(Arguments arguments, wire::RespWriter& reply);
  void Throttle(Arguments arguments, wire::RespWriter& reply);
  void Check(Arguments arguments, wire::RespWriter& reply);
  void Delete(Arguments arguments, wire::RespWriter& reply);
  void Exists(Arguments arguments, wire::RespWriter& reply);
  void TimeToLive(Arguments arguments, wire::RespWriter& reply);

  // Has the cluster asked for the checks that follow one that waits, if they are there already.
  void AskAhead(std::string_view bytes);
  // `request` lacks what the arguments say: the cost, which is set, and the attributes.
  CheckReply& DecideOne(CheckRequest& request, Arguments arguments);
  static void TellOne(const CheckReply& decided, wire::RespWriter& reply);
  // The same, part by part, whatever it is.
  static void TellSeldom(const CheckReply& decided, wire::RespWriter& reply);
  void LearnShape(Arguments arguments, const CheckRequest& request);

  // What was answered of some bytes.
  struct Done {
    std::size_t size = 0;
    std::size_t requests = 0;
  };
  // Commands that are read before the first of them is decided: by then its memory has come. To
  // read more of them ahead gains nothing.
  static constexpr std::size_t kMostInRun = 16;
  // Answers the first commands of `bytes`, as many as differ from one before in their values only;
  // nothing if the first is any other.
  Done RunLikeLast(std::string_view bytes, wire::RespWriter& reply);
  Done CheckLikeLast(std::string_view bytes, wire::RespWriter& reply);
  Done ThrottleLikeLast(std::string_view bytes, wire::RespWriter& reply);
  // A command that is not like the last one of its kind is not remembered at once: who says two
  // kinds in turns is understood the short way in half of what he says. Of so many, one is.
  static constexpr std::uint32_t kPatience = 8;

  Checker& checker_;
  const RespOptions& options_;
  wire::RespReader reader_;
  std::vector<std::string_view> arguments_;
  CellReader redis_cell_{CellCommand::OfRedisCell};
  CellReader throttlecrab_{CellCommand::OfThrottlecrab};
  CheckSeries checks_;
  // Of commands that were said. Null: none was; of checks also if they may have to wait, and are
  // then asked twice.
  std::unique_ptr<CheckShape> check_shape_;
  std::unique_ptr<CellShape> cell_shape_;
  std::uint32_t check_misses_ = 0;  // those that were not like the last
  std::uint32_t cell_misses_ = 0;
  const Command* last_command_ = Commands().data();  // clients say the same again and again
  wire::RespVersion version_ = wire::RespVersion::k2;
  bool authorized_;
  bool closing_ = false;
  std::uint64_t failed_auths_ = 0;
  // When the bytes at hand came.
  Instant now_{};
};

}  // namespace weir
