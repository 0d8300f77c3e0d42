// Calls of Weir's scripts in a Redis: one server, one that Sentinels choose, or a cluster.
//
// Each call goes to the node that has its keys, and all calls of a turn of the loop go out
// together. What a node refuses is repaired where the refusal says that nothing was executed:
//
//     NOSCRIPT             it is told the script, and asked again
//     MOVED, ASK           the node it names is asked, and with MOVED the map of slots is renewed
//     TRYAGAIN             asked again a little later
//     any other error      kNotDone; the failure policy of the host decides (host.h)
//
// A call whose answer was lost with its connection is kUnknown and never sent again.
//
// Several callers may share one: RedisAuthority and RedisSwapStore of a loop have one connection to
// each node between them.
//
// Thread safety: one for each loop, for the loop's thread only.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "authority/authority.h"
#include "authority/redis_connection.h"
#include "authority/redis_nodes.h"
#include "net/loop.h"

namespace weir::authority {

enum class RedisKind : std::uint8_t {
  kServer,
  kSentinels,  // the master that they name
  kCluster,
};

struct RedisOptions {
  RedisKind kind = RedisKind::kServer;
  std::vector<net::Endpoint> endpoints;  // the server, the Sentinels, or some nodes of the cluster
  std::string master_name = "mymaster";  // by which Sentinels know it
  RedisLogin sentinel_login;
  std::string prefix = "weir:";  // of all keys
  RedisConnectionOptions connection;
  // Microseconds of a clock that all hosts share, for a Redis that does not tell the time to
  // scripts. Empty: Redis's own, which is the better one.
  std::function<std::uint64_t()> clock;
  std::chrono::milliseconds clock_slack{2'000};  // by how much such clocks differ at most
};

// What was said to Redis and what it said, since the beginning.
struct RedisCounts {
  std::uint64_t done = 0;
  std::uint64_t not_done = 0;
  std::uint64_t unknown = 0;
  std::uint64_t scripts = 0;  // sent again because the script was not known,
  std::uint64_t moved = 0;    //   because the slot had moved,
  std::uint64_t asked = 0;    //   or was on its way
  std::uint64_t maps = 0;     // maps of slots that were learned
};

// The scripts there are. A connection begins by telling the first; another one is told when it is
// called for the first time.
enum class RedisScript : std::uint8_t { kSync, kSwap };

class RedisCalls final : private RedisConnection::Client {
 public:
  // Names a call to whoever made it.
  using Call = std::uint64_t;

  class Caller {
   public:
    Caller() = default;
    Caller(const Caller&) = delete;
    Caller& operator=(const Caller&) = delete;
    virtual ~Caller() = default;
    // `answer` is null unless it is kDone, and never an error. Valid during the call.
    virtual void OnAnswer(Call call, Outcome outcome, wire::RespValue answer) = 0;
  };

  // Begins to connect. REQUIRES: one endpoint at least.
  RedisCalls(net::Loop& loop, RedisOptions options);
  // Answers all that is under way.
  ~RedisCalls() override;

  // One call of `script`, that `write(command)` appends to a string, on the node that has `key`.
  // Answered once, perhaps before this returns.
  template <typename Write>
  void Send(RedisScript script, std::string_view key, Caller& caller, Call call,
            const Write& write) {
    const Tag tag = Begin(script, caller, call);
    write(under_way_[tag].command);
    SendTo(nodes_.Of(SlotFor(key)), tag);
  }
  // Answers what is under way for one who will be gone; it was sent, so it is kUnknown.
  void Abandon(Caller& caller);

  // Keys of the same slot can be in one call: all keys, unless it is a cluster.
  [[nodiscard]] std::uint16_t SlotFor(std::string_view key) const {
    return is_cluster() ? SlotOf(key) : 0;
  }

  [[nodiscard]] const RedisOptions& options() const { return options_; }
  // What went wrong last, with the address of where it did; empty if nothing ever did.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] const RedisCounts& counts() const { return counts_; }
  [[nodiscard]] std::size_t under_way() const { return under_way_.size() - free_.size(); }

 private:
  static constexpr std::size_t kScripts = 2;

  struct UnderWay {
    Caller* caller = nullptr;  // null: nobody wants the answer, or it is free
    Call call = 0;
    RedisScript script = RedisScript::kSync;
    std::string command;
    int attempts = 0;
  };
  using Tag = RedisConnection::Tag;

  void OnAnswer(RedisConnection& connection, Tag tag, Outcome outcome,
                wire::RespValue answer) override;
  void OnError(RedisConnection& connection, Tag tag, wire::RespValue error);
  void Redirect(const Redirection& redirection, Tag tag);
  void TellScript(RedisConnection& connection, RedisScript script);
  void AskAgainLater(Tag tag);
  void AskAgain();
  void SendTo(RedisConnection* node, Tag tag);
  void Finish(Tag tag, Outcome outcome, wire::RespValue answer);
  Tag Begin(RedisScript script, Caller& caller, Call call);

  // Of a master that Sentinels name, the map has one entry.
  void RenewMapSoon();
  void RenewMap();
  void OnMap(RedisConnection& connection, wire::RespValue answer);
  [[nodiscard]] bool is_cluster() const { return options_.kind == RedisKind::kCluster; }

  net::Loop& loop_;
  RedisOptions options_;
  std::array<std::string, kScripts> load_commands_;
  std::string problem_;
  RedisCounts counts_;

  std::deque<UnderWay> under_way_;  // by tag; some are free
  std::vector<Tag> free_;
  std::vector<Tag> again_;  // to be asked again
  // Who is being told which script.
  std::vector<std::pair<const RedisConnection*, RedisScript>> are_told_;
  net::Loop::Timer again_timer_ = net::Loop::kNoTimer;
  net::Loop::Timer map_timer_ = net::Loop::kNoTimer;
  bool is_map_asked_for_ = false;
  bool is_closing_ = false;

  // Last: their connections tell of their end.
  std::optional<RedisNodes> sentinels_;
  RedisNodes nodes_;
};

}  // namespace weir::authority
