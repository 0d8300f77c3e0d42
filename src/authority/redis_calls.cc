#include "authority/redis_calls.h"

#include <algorithm>
#include <utility>

#include "authority/redis_script.h"
#include "authority/redis_swap_script.h"
#include "base/check.h"
#include "wire/resp_command.h"

namespace weir::authority {
namespace {

// A call that is sent to and fro more often than this is given up.
constexpr int kMostAttempts = 6;
constexpr Nanos kLittleLater = std::chrono::milliseconds(5);
// Between two looks at the map, however many nodes are lost or moved.
constexpr Nanos kMapPause = std::chrono::milliseconds(100);

// Tags that are no calls.
constexpr RedisConnection::Tag kMap = RedisConnection::kNobody - 1;
constexpr RedisConnection::Tag kFirstScript = RedisConnection::kNobody - 16;  // and those after it

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

RedisCalls::RedisCalls(net::Loop& loop, RedisOptions options)
    : loop_(loop),
      options_(std::move(options)),
      nodes_(loop, Known(options_), WithScript(options_.connection), *this) {
  WEIR_CHECK(!options_.endpoints.empty());
  AppendLoadCommand(load_commands_[static_cast<std::size_t>(RedisScript::kSync)]);
  AppendLoadSwapCommand(load_commands_[static_cast<std::size_t>(RedisScript::kSwap)]);
  if (options_.kind == RedisKind::kSentinels) {
    RedisConnectionOptions plain = options_.connection;
    plain.login = options_.sentinel_login;
    RedisConnection::Client& client = *this;
    sentinels_.emplace(loop, options_.endpoints, plain, client);
  }
  if (options_.kind != RedisKind::kServer) RenewMap();
}

RedisCalls::~RedisCalls() {
  is_closing_ = true;
  loop_.Cancel(again_timer_);
  loop_.Cancel(map_timer_);
  for (const Tag tag : std::exchange(again_, {})) Finish(tag, Outcome::kNotDone, {});
  if (sentinels_) sentinels_->Close();
  nodes_.Close();
}

// --- calls ---------------------------------------------------------------------------------------

RedisCalls::Tag RedisCalls::Begin(RedisScript script, Caller& caller, Call call) {
  Tag tag = under_way_.size();
  if (free_.empty()) {
    under_way_.emplace_back();
  } else {
    tag = free_.back();
    free_.pop_back();
  }
  UnderWay& made = under_way_[tag];
  made.caller = &caller;
  made.call = call;
  made.script = script;
  made.command.clear();
  made.attempts = 0;
  return tag;
}

void RedisCalls::SendTo(RedisConnection* node, Tag tag) {
  if (node == nullptr) return Finish(tag, Outcome::kNotDone, {});  // no master was named yet
  node->Send(under_way_[tag].command, tag);
}

void RedisCalls::Finish(Tag tag, Outcome outcome, wire::RespValue answer) {
  counts_.done += outcome == Outcome::kDone ? 1 : 0;
  counts_.not_done += outcome == Outcome::kNotDone ? 1 : 0;
  counts_.unknown += outcome == Outcome::kUnknown ? 1 : 0;
  Caller* const caller = std::exchange(under_way_[tag].caller, nullptr);
  const Call call = under_way_[tag].call;
  free_.push_back(tag);  // first: who is told may call again
  if (caller != nullptr) caller->OnAnswer(call, outcome, answer);
}

void RedisCalls::Abandon(Caller& caller) {
  std::vector<Call> abandoned;  // first: who is told may call again
  for (UnderWay& made : under_way_) {
    if (made.caller != &caller) continue;
    made.caller = nullptr;
    abandoned.push_back(made.call);
  }
  for (const Call call : abandoned) caller.OnAnswer(call, Outcome::kUnknown, {});
}

void RedisCalls::OnAnswer(RedisConnection& connection, Tag tag, Outcome outcome,
                          wire::RespValue answer) {
  if (outcome != Outcome::kDone) {
    problem_ = connection.problem().empty()
                   ? connection.endpoint().ToString() + ": too much is under way"
                   : connection.problem();
    RenewMapSoon();
  }
  if (tag == kMap) return OnMap(connection, answer);
  if (tag >= kFirstScript) {
    const auto script = static_cast<RedisScript>(tag - kFirstScript);
    std::erase(are_told_, std::pair<const RedisConnection*, RedisScript>(&connection, script));
    if (answer.is(wire::RespKind::kError)) problem_ = answer.text();
    return;
  }
  const bool is_refused = outcome == Outcome::kDone && answer.is(wire::RespKind::kError);
  if (is_refused) return OnError(connection, tag, answer);
  Finish(tag, outcome, answer);
}

// An error in the place of an answer: nothing was executed.
void RedisCalls::OnError(RedisConnection& connection, Tag tag, wire::RespValue error) {
  if (++under_way_[tag].attempts < kMostAttempts && !is_closing_) {
    if (error.IsError("NOSCRIPT")) {
      ++counts_.scripts;
      TellScript(connection, under_way_[tag].script);
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
  Finish(tag, Outcome::kNotDone, {});
}

void RedisCalls::Redirect(const Redirection& redirection, Tag tag) {
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
void RedisCalls::TellScript(RedisConnection& connection, RedisScript script) {
  const std::pair<const RedisConnection*, RedisScript> told(&connection, script);
  if (std::find(are_told_.begin(), are_told_.end(), told) != are_told_.end()) return;
  are_told_.push_back(told);
  const auto number = static_cast<std::size_t>(script);
  connection.Send(load_commands_[number], kFirstScript + number);
}

void RedisCalls::AskAgainLater(Tag tag) {
  again_.push_back(tag);
  if (again_.size() == 1) again_timer_ = loop_.After(kLittleLater, [this] { AskAgain(); });
}

void RedisCalls::AskAgain() {
  // Any node will do: it says where to go.
  for (const Tag tag : std::exchange(again_, {})) {
    nodes_.Next().Send(under_way_[tag].command, tag);
  }
}

// --- the map of slots ----------------------------------------------------------------------------

void RedisCalls::RenewMapSoon() {
  if (options_.kind == RedisKind::kServer || is_closing_ || is_map_asked_for_) return;
  if (map_timer_ != net::Loop::kNoTimer) return;
  map_timer_ = loop_.After(kMapPause, [this] {
    map_timer_ = net::Loop::kNoTimer;
    RenewMap();
  });
}

void RedisCalls::RenewMap() {
  is_map_asked_for_ = true;
  if (sentinels_) {
    const std::string ask = Encoded({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", options_.master_name});
    return sentinels_->Next().Send(ask, kMap);
  }
  nodes_.Next().Send(Encoded({"CLUSTER", "SLOTS"}), kMap);
}

void RedisCalls::OnMap(RedisConnection& connection, wire::RespValue answer) {
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
