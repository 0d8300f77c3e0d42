// An authority in Redis: one server, one that Sentinels choose, or a cluster.
//
// Each request is one call of the script (redis_script.h) on the node that has the key, and all
// requests of a turn of the loop go out together. What a node refuses is repaired where the refusal
// says that nothing was executed:
//
//     NOSCRIPT             it is told the script, and asked again
//     MOVED, ASK           the node it names is asked, and with MOVED the map of slots is renewed
//     TRYAGAIN             asked again a little later
//     any other error      kNotDone; the host's failure policy decides (host.h)
//
// A request whose answer was lost with its connection is kUnknown and never sent again.
//
// Thread safety: one for each loop, for the loop's thread only.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
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

class RedisAuthority final : public Authority, private RedisConnection::Client {
 public:
  // Begins to connect. REQUIRES: one endpoint at least.
  RedisAuthority(net::Loop& loop, RedisOptions options);
  // Answers all that is under way.
  ~RedisAuthority() override;

  void Sync(std::span<const SyncRequest> requests, Replies& replies) override;

  // What went wrong last, with the address of where it did; empty if nothing ever did.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] const RedisCounts& counts() const { return counts_; }
  [[nodiscard]] std::size_t under_way() const { return under_way_.size() - free_.size(); }

 private:
  struct UnderWay {
    Replies* replies = nullptr;
    Ticket ticket = 0;
    std::string command;
    int attempts = 0;
  };
  using Tag = RedisConnection::Tag;

  void OnAnswer(RedisConnection& connection, Tag tag, Outcome outcome,
                wire::RespValue answer) override;
  void OnError(RedisConnection& connection, Tag tag, wire::RespValue error);
  void Redirect(const Redirection& redirection, Tag tag);
  void TellScript(RedisConnection& connection);
  void AskAgainLater(Tag tag);
  void AskAgain();
  void Finish(Tag tag, const SyncReply& reply);
  Tag Begin(Replies& replies, Ticket ticket);

  // Of a master that Sentinels name, the map has one entry.
  void RenewMapSoon();
  void RenewMap();
  void OnMap(RedisConnection& connection, wire::RespValue answer);
  [[nodiscard]] bool is_cluster() const { return options_.kind == RedisKind::kCluster; }

  net::Loop& loop_;
  RedisOptions options_;
  std::string load_command_;
  std::string problem_;
  RedisCounts counts_;
  std::string key_;  // of the request at hand, with its prefix

  std::deque<UnderWay> under_way_;  // by tag; some are free
  std::vector<Tag> free_;
  std::vector<Tag> again_;                        // to be asked again
  std::vector<const RedisConnection*> are_told_;  // are being told the script
  net::Loop::Timer again_timer_ = net::Loop::kNoTimer;
  net::Loop::Timer map_timer_ = net::Loop::kNoTimer;
  bool is_map_asked_for_ = false;
  bool is_closing_ = false;

  // Last: their connections tell of their end.
  std::optional<RedisNodes> sentinels_;
  RedisNodes nodes_;
};

}  // namespace weir::authority
