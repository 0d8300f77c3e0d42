#include "authority/redis_authority.h"

#include <algorithm>
#include <utility>

#include "authority/redis_script.h"
#include "base/check.h"
#include "wire/resp_command.h"

namespace weir::authority {
namespace {

// A request that is sent to and fro more often than this is given up.
constexpr int kMostAttempts = 6;
constexpr Nanos kLittleLater = std::chrono::milliseconds(5);
// Between two looks at the map, however many nodes are lost or moved.
constexpr Nanos kMapPause = std::chrono::milliseconds(100);

// Tags that are no requests.
constexpr RedisConnection::Tag kMap = RedisConnection::kNobody - 1;
constexpr RedisConnection::Tag kScript = RedisConnection::kNobody - 2;

RedisConnectionOptions WithScript(RedisConnectionOptions options) {
  options.opening.clear();
  AppendLoadCommand(options.opening);
  return options;
}

// Nodes that are known from the beginning.
std::vector<net::Endpoint> Known(const RedisOptions& options) {
  return options.kind == RedisKind::kSentinels ? std::vector<net::Endpoint>() : options.endpoints;
}

std::string Encoded(std::initializer_list<std::string_view> words) {
  std::string command;
  wire::AppendRespCommand(words, command);
  return command;
}

}  // namespace

RedisAuthority::RedisAuthority(net::Loop& loop, RedisOptions options)
    : loop_(loop),
      options_(std::move(options)),
      nodes_(loop, Known(options_), WithScript(options_.connection), *this) {
  WEIR_CHECK(!options_.endpoints.empty());
  AppendLoadCommand(load_command_);
  if (options_.kind == RedisKind::kSentinels) {
    RedisConnectionOptions plain = options_.connection;
    plain.login = options_.sentinel_login;
    RedisConnection::Client& client = *this;
    sentinels_.emplace(loop, options_.endpoints, plain, client);
  }
  if (options_.kind != RedisKind::kServer) RenewMap();
}

RedisAuthority::~RedisAuthority() {
  is_closing_ = true;
  loop_.Cancel(again_timer_);
  loop_.Cancel(map_timer_);
  for (const Tag tag : std::exchange(again_, {})) Finish(tag, {.outcome = Outcome::kNotDone});
  if (sentinels_) sentinels_->Close();
  nodes_.Close();
}

// --- requests ------------------------------------------------------------------------------------

void RedisAuthority::Sync(std::span<const SyncRequest> requests, Replies& replies) {
  const ScriptTime time = options_.clock
                              ? ScriptTime{.now = options_.clock(), .slack = options_.clock_slack}
                              : ScriptTime{};
  for (const SyncRequest& request : requests) {
    key_ = options_.prefix;
    key_ += request.key;
    const Tag tag = Begin(replies, request.ticket);
    std::string& command = under_way_[tag].command;
    AppendSyncCommand(request, key_, time, command);
    RedisConnection* const node = nodes_.Of(is_cluster() ? SlotOf(key_) : 0);
    if (node == nullptr) {
      Finish(tag, {.outcome = Outcome::kNotDone});  // no Sentinel has named the master yet
    } else {
      node->Send(command, tag);
    }
  }
}

RedisAuthority::Tag RedisAuthority::Begin(Replies& replies, Ticket ticket) {
  Tag tag = under_way_.size();
  if (free_.empty()) {
    under_way_.emplace_back();
  } else {
    tag = free_.back();
    free_.pop_back();
  }
  UnderWay& request = under_way_[tag];
  request.replies = &replies;
  request.ticket = ticket;
  request.command.clear();
  request.attempts = 0;
  return tag;
}

void RedisAuthority::Finish(Tag tag, const SyncReply& reply) {
  const UnderWay& request = under_way_[tag];
  counts_.done += reply.outcome == Outcome::kDone ? 1 : 0;
  counts_.not_done += reply.outcome == Outcome::kNotDone ? 1 : 0;
  counts_.unknown += reply.outcome == Outcome::kUnknown ? 1 : 0;
  free_.push_back(tag);  // first: who is told may ask for more
  request.replies->OnReply(request.ticket, reply);
}

void RedisAuthority::OnAnswer(RedisConnection& connection, Tag tag, Outcome outcome,
                              wire::RespValue answer) {
  if (outcome != Outcome::kDone) {
    problem_ = connection.problem().empty()
                   ? connection.endpoint().ToString() + ": too much is under way"
                   : connection.problem();
    RenewMapSoon();
  }
  if (tag == kMap) return OnMap(connection, answer);
  if (tag == kScript) {
    std::erase(are_told_, &connection);
    if (answer.is(wire::RespKind::kError)) problem_ = answer.text();
    return;
  }
  if (outcome != Outcome::kDone) return Finish(tag, {.outcome = outcome});
  if (answer.is(wire::RespKind::kError)) return OnError(connection, tag, answer);
  const std::optional<SyncReply> reply = ReadSyncAnswer(answer);
  // Whoever answers like that did not execute the script, but what it did nobody knows.
  Finish(tag, reply ? *reply : SyncReply{.outcome = Outcome::kUnknown});
}

// An error in the place of an answer: nothing was executed.
void RedisAuthority::OnError(RedisConnection& connection, Tag tag, wire::RespValue error) {
  if (++under_way_[tag].attempts < kMostAttempts && !is_closing_) {
    if (error.IsError("NOSCRIPT")) {
      ++counts_.scripts;
      TellScript(connection);
      return connection.Send(under_way_[tag].command, tag);
    }
    if (const auto redirection = ReadRedirection(error.text(), connection.endpoint());
        redirection && is_cluster()) {
      return Redirect(*redirection, tag);
    }
    if (error.IsError("TRYAGAIN")) return AskAgainLater(tag);
  }
  problem_ = connection.endpoint().ToString() + ": " + std::string(error.text());
  if (error.IsError("MOVED") && !is_cluster()) {
    problem_ += "; it is a node of a cluster: configure it as one";
  }
  RenewMapSoon();
  Finish(tag, {.outcome = Outcome::kNotDone});
}

void RedisAuthority::Redirect(const Redirection& redirection, Tag tag) {
  RedisConnection& to = nodes_.At(redirection.to);
  if (redirection.kind == Redirection::Kind::kMoved) {
    ++counts_.moved;
    nodes_.Move(redirection.slot, to);
    RenewMapSoon();
  } else {
    ++counts_.asked;
    to.Send(Encoded({"ASKING"}), RedisConnection::kNobody);
  }
  to.Send(under_way_[tag].command, tag);
}

// Many may find it missing at once; told once, it is there for all that follows.
void RedisAuthority::TellScript(RedisConnection& connection) {
  if (std::find(are_told_.begin(), are_told_.end(), &connection) != are_told_.end()) return;
  are_told_.push_back(&connection);
  connection.Send(load_command_, kScript);
}

void RedisAuthority::AskAgainLater(Tag tag) {
  again_.push_back(tag);
  if (again_.size() == 1) again_timer_ = loop_.After(kLittleLater, [this] { AskAgain(); });
}

void RedisAuthority::AskAgain() {
  // Any node will do: it says where to go.
  for (const Tag tag : std::exchange(again_, {})) {
    nodes_.Next().Send(under_way_[tag].command, tag);
  }
}

// --- the map of slots ----------------------------------------------------------------------------

void RedisAuthority::RenewMapSoon() {
  if (options_.kind == RedisKind::kServer || is_closing_ || is_map_asked_for_) return;
  if (map_timer_ != net::Loop::kNoTimer) return;
  map_timer_ = loop_.After(kMapPause, [this] {
    map_timer_ = net::Loop::kNoTimer;
    RenewMap();
  });
}

void RedisAuthority::RenewMap() {
  is_map_asked_for_ = true;
  if (sentinels_) {
    const std::string ask = Encoded({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", options_.master_name});
    return sentinels_->Next().Send(ask, kMap);
  }
  nodes_.Next().Send(Encoded({"CLUSTER", "SLOTS"}), kMap);
}

void RedisAuthority::OnMap(RedisConnection& connection, wire::RespValue answer) {
  is_map_asked_for_ = false;
  if (is_closing_) return;
  const auto ranges = sentinels_ ? ReadMaster(answer) : ReadSlots(answer, connection.endpoint());
  if (ranges && !ranges->empty()) {
    ++counts_.maps;
    return nodes_.Assign(*ranges);
  }
  if (answer.is(wire::RespKind::kError)) {
    problem_ = connection.endpoint().ToString() + ": " + std::string(answer.text());
  } else if (sentinels_ && connection.is_up()) {
    problem_ = connection.endpoint().ToString() + ": the Sentinel knows no master '" +
               options_.master_name + "'; name it as its `sentinel monitor` does";
  }
  RenewMapSoon();
}

}  // namespace weir::authority
