#include "authority/redis_connection.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/time.h"
#include "net/dial.h"
#include "net/tls_client_settings.h"
#include "wire/resp_command.h"

namespace weir::authority {
namespace {

// A turn that sends more than this does not wait for its end.
constexpr std::size_t kFlushAt = 65'536;

std::string Reason(int error) { return std::generic_category().message(error); }

std::string Show(Nanos time) {
  return std::to_string(std::chrono::ceil<std::chrono::milliseconds>(time).count()) + " ms";
}

}  // namespace

RedisConnection::RedisConnection(net::Loop& loop, net::Endpoint endpoint,
                                 const RedisConnectionOptions& options, Client& client)
    : loop_(loop),
      endpoint_(std::move(endpoint)),
      options_(options),
      client_(client),
      chance_(static_cast<std::minstd_rand::result_type>(options.seed)) {
  Connect();
}

RedisConnection::~RedisConnection() {
  Lose("the connection is closed");
  loop_.Cancel(dial_timer_);
}

// --- connecting ----------------------------------------------------------------------------------

void RedisConnection::Connect() {
  ++connections_;
  reader_.Reset();
  unread_.clear();
  unsent_.clear();
  sent_ = 0;
  written_ = 0;
  if (!options_.opening.empty()) {
    unsent_ = options_.opening;
    under_way_.push_back({.tag = kNobody, .end = unsent_.size(), .since = loop_.now()});
  }
  state_ = State::kDialling;
  dial_timer_ = loop_.After(options_.connect_patience, [this] {
    Lose("no connection after " + Show(options_.connect_patience));
  });
  resolution_.emplace(loop_, endpoint_,
                      [this](const Result<net::SocketAddress>& address) { Dial(address); });
}

void RedisConnection::Dial(const Result<net::SocketAddress>& address) {
  if (state_ != State::kDialling) return;  // was found too late
  if (!address.ok()) return Lose(address.error().message);
  Result<Descriptor> dialled = net::Dial(*address);
  if (!dialled.ok()) return Lose(dialled.error().message);
  const int error = loop_.Watch(dialled->get(), EPOLLOUT, *this);
  if (error != 0) return Lose(Reason(error));
  socket_ = std::move(*dialled);
  interest_ = EPOLLOUT;
}

void RedisConnection::OnReady(std::uint32_t events) {
  if (!socket_.is_open()) return;  // told of the connection before
  if (state_ == State::kDialling) {
    if (const int error = net::DialProblem(socket_); error != 0) return Lose(Reason(error));
    WatchFor(EPOLLIN);
    return options_.tls ? Encrypt() : Greet(State::kHello);
  }
  if (state_ == State::kShaking) return ShakeHands();
  if ((events & EPOLLOUT) != 0) Flush();
  if (!socket_.is_open() || (events & ~EPOLLOUT) == 0) return;
  do {
    Read();
  } while (tls_ && tls_->has_more());
}

void RedisConnection::Encrypt() {
  const RedisTls& tls = *options_.tls;
  Result<net::openssl::Context> context = net::MakeClientContext(
      {.ca = tls.ca, .certificate = tls.certificate, .key = tls.key, .protocol = ""});
  if (!context) return Lose(context.error().message);
  tls_.emplace(**context, socket_.get(),
               tls.server_name.empty() ? endpoint_.host : tls.server_name);
  state_ = State::kShaking;
  ShakeHands();
}

void RedisConnection::ShakeHands() {
  switch (tls_->ShakeHands()) {
    case net::TlsClientStream::Shake::kGoesOn:
      return WatchFor(tls_->wants_room() ? EPOLLIN | EPOLLOUT : EPOLLIN);
    case net::TlsClientStream::Shake::kFailed:
      return Lose(WhyLost(errno));
    case net::TlsClientStream::Shake::kDone:
      WatchFor(EPOLLIN);
      return Greet(State::kHello);
  }
}

// The greeting goes step by step, past what was sent meanwhile: that waits until it is over.
void RedisConnection::Greet(State step) {
  const RedisLogin& login = options_.login;
  const std::string_view user = login.user.empty() ? "default" : std::string_view(login.user);
  std::string command;
  if (step == State::kHello && login.password.empty()) {
    wire::AppendRespCommand({"HELLO", "3", "SETNAME", "weir"}, command);
  } else if (step == State::kHello) {
    wire::AppendRespCommand({"HELLO", "3", "AUTH", user, login.password, "SETNAME", "weir"},
                            command);
  } else if (step == State::kAuth && login.user.empty()) {
    wire::AppendRespCommand({"AUTH", login.password}, command);
  } else if (step == State::kAuth) {
    wire::AppendRespCommand({"AUTH", user, login.password}, command);
  } else {
    wire::AppendRespCommand({"SELECT", std::to_string(login.database)}, command);
  }
  state_ = step;
  // A socket that was never written to takes as little as this at once, or is broken.
  if (Transmit(command) != static_cast<std::ptrdiff_t>(command.size())) Lose(WhyLost(errno));
}

void RedisConnection::OnGreeting(wire::RespValue answer) {
  if (answer.is(wire::RespKind::kError)) return OnRefusal(answer);
  if (state_ != State::kSelect && options_.login.database != 0) return Greet(State::kSelect);
  BeUp();
}

void RedisConnection::OnRefusal(wire::RespValue answer) {
  // A server that does not know HELLO, or a user who may not say it: then without, in RESP2.
  const bool is_about_hello =
      answer.IsError("ERR") || answer.IsError("NOPROTO") || answer.IsError("NOPERM");
  if (state_ != State::kHello || !is_about_hello) {
    return Lose("it refused the login: " + std::string(answer.text()));
  }
  if (!options_.login.password.empty()) return Greet(State::kAuth);
  if (options_.login.database != 0) return Greet(State::kSelect);
  BeUp();
}

void RedisConnection::BeUp() {
  loop_.Cancel(dial_timer_);
  state_ = State::kUp;
  failures_ = 0;
  problem_.clear();
  for (UnderWay& command : under_way_) command.since = loop_.now();  // waited for us until now
  FlushSoon();
}

// --- losing --------------------------------------------------------------------------------------

void RedisConnection::Close() {
  tls_.reset();  // says goodbye
  if (socket_.is_open()) loop_.Unwatch(socket_.get());
  socket_ = Descriptor();
  loop_.Cancel(dial_timer_);
  loop_.Cancel(flush_timer_);
  loop_.Cancel(patience_timer_);
  flush_timer_ = patience_timer_ = net::Loop::kNoTimer;
  state_ = State::kDown;
}

std::string RedisConnection::WhyLost(int error) const {
  std::string why = tls_ && !tls_->problem().empty() ? tls_->problem() : Reason(error);
  // With TLS 1.3 a server refuses behind the handshake, and what it says may be lost with the
  // connection.
  if (state_ == State::kHello && options_.tls && options_.tls->certificate.empty()) {
    why += "; it may ask clients for a certificate, and none is configured";
  }
  return why;
}

void RedisConnection::Lose(std::string problem) {
  Close();
  problem_ = endpoint_.ToString() + ": " + std::move(problem);
  ++failures_;
  const double chance = static_cast<double>(chance_() - std::minstd_rand::min()) /
                        (1.0 + std::minstd_rand::max() - std::minstd_rand::min());
  dial_timer_ = loop_.After(options_.reconnect.WaitAfter(failures_, chance), [this] { Connect(); });
  const std::uint64_t written = written_ + sent_;
  const std::deque<UnderWay> lost = std::exchange(under_way_, {});
  for (const UnderWay& command : lost) {
    if (command.tag == kNobody) continue;
    const Outcome outcome = command.end <= written ? Outcome::kUnknown : Outcome::kNotDone;
    client_.OnAnswer(*this, command.tag, outcome, {});
  }
}

// One timer for all: it looks at the command that has waited longest.
void RedisConnection::BePatient() {
  if (patience_timer_ != net::Loop::kNoTimer || under_way_.empty()) return;
  const Nanos left = Later(under_way_.front().since, options_.patience) - loop_.now();
  patience_timer_ = loop_.After(left, [this] { OnPatienceOver(); });
}

void RedisConnection::OnPatienceOver() {
  patience_timer_ = net::Loop::kNoTimer;
  if (state_ != State::kUp || under_way_.empty()) return;
  if (loop_.now() - under_way_.front().since >= options_.patience) {
    return Lose("no answer after " + Show(options_.patience));
  }
  BePatient();
}

// --- sending -------------------------------------------------------------------------------------

void RedisConnection::Send(std::string_view command, Tag tag) {
  const bool is_hopeless = state_ == State::kDown || (state_ != State::kUp && failures_ > 0);
  if (is_hopeless || under_way_.size() >= options_.most_under_way) {
    if (tag != kNobody) client_.OnAnswer(*this, tag, Outcome::kNotDone, {});
    return;
  }
  unsent_ += command;
  under_way_.push_back({.tag = tag, .end = written_ + unsent_.size(), .since = loop_.now()});
  if (state_ != State::kUp) return;
  FlushSoon();
  if (unsent_.size() - sent_ >= kFlushAt && (interest_ & EPOLLOUT) == 0) Flush();
}

// In the next turn, after all who are called in it: what they send goes along.
void RedisConnection::FlushSoon() {
  BePatient();
  if (flush_timer_ != net::Loop::kNoTimer || (interest_ & EPOLLOUT) != 0) return;
  flush_timer_ = loop_.After(Nanos(0), [this] {
    flush_timer_ = net::Loop::kNoTimer;
    Flush();
  });
}

void RedisConnection::Flush() {
  while (sent_ < unsent_.size()) {
    const std::ptrdiff_t put = Transmit(std::string_view(unsent_).substr(sent_));
    if (put < 0) {
      if (errno != EAGAIN) return Lose(WhyLost(errno));
      return WatchFor(EPOLLIN | EPOLLOUT);
    }
    sent_ += static_cast<std::size_t>(put);
  }
  written_ += sent_;
  sent_ = 0;
  unsent_.clear();
  WatchFor(EPOLLIN);
}

void RedisConnection::WatchFor(std::uint32_t events) {
  if (interest_ == events) return;
  loop_.ChangeWatch(socket_.get(), events, *this);
  interest_ = events;
}

// --- receiving -----------------------------------------------------------------------------------

void RedisConnection::Read() {
  std::array<char, 65'536> block;  // NOLINT(cppcoreguidelines-pro-type-member-init): is filled
  const std::ptrdiff_t got = Receive(block);
  if (got < 0) {
    if (errno != EAGAIN) Lose(WhyLost(errno));
    return;
  }
  if (got == 0) return Lose("the server closed the connection");
  // What is called below may lose this connection, and all that is unread with it.
  const std::uint64_t connection = connections_;
  std::string_view bytes(block.data(), static_cast<std::size_t>(got));
  std::string joined;
  if (!unread_.empty()) {
    joined = std::move(unread_);
    joined += bytes;
    bytes = joined;
  }
  for (;;) {
    const wire::RespAnswer answer = reader_.Read(bytes);
    if (answer.status == wire::RespValueStatus::kNeedMore) break;
    if (answer.status == wire::RespValueStatus::kBad) {
      return Lose("not an answer of Redis: " + std::string(answer.problem));
    }
    bytes.remove_prefix(answer.consumed);
    if (answer.value.is(wire::RespKind::kPush)) continue;
    if (!Take(answer.value) || connection != connections_ || !socket_.is_open()) return;
  }
  unread_ = bytes;
}

// False if the connection is lost.
bool RedisConnection::Take(wire::RespValue answer) {
  if (state_ != State::kUp) {
    OnGreeting(answer);
    return socket_.is_open();
  }
  const bool is_expected = !under_way_.empty() && under_way_.front().end <= written_ + sent_;
  if (!is_expected) {
    Lose("an answer that nothing was asked for: " + std::string(answer.text()));
    return false;
  }
  const Tag tag = under_way_.front().tag;
  under_way_.pop_front();
  if (tag != kNobody) client_.OnAnswer(*this, tag, Outcome::kDone, answer);
  return true;
}

std::ptrdiff_t RedisConnection::Receive(std::span<char> buffer) {
  if (tls_) return tls_->Receive(buffer);
  return recv(socket_.get(), buffer.data(), buffer.size(), 0);
}

std::ptrdiff_t RedisConnection::Transmit(std::string_view bytes) {
  if (tls_) return tls_->Transmit(bytes);
  return send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
}

}  // namespace weir::authority
