#include "bench/load/load.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/descriptor.h"

namespace weir::bench {
namespace {

using Time = std::int64_t;  // nanoseconds of the steady clock

Time Now() { return std::chrono::steady_clock::now().time_since_epoch().count(); }
Time Seconds(double seconds) { return static_cast<Time>(seconds * 1e9); }

// Requests that were due together.
struct Waiting {
  Time since;
  std::uint64_t count;
};

struct Connection {
  Descriptor socket;
  std::unique_ptr<Dialogue> dialogue;
  std::deque<Waiting> waiting;
  std::string unread;
  std::string out;
  bool wants_to_write = false;
};

class Load {
 public:
  Load(const LoadOptions& options, const Questions& questions)
      : options_(options), questions_(questions), epoll_(epoll_create1(0)), in_(1 << 18) {}

  std::optional<Error> Connect();
  Result<LoadResult> Run();

 private:
  [[nodiscard]] bool is_open_loop() const { return options_.rate > 0; }
  [[nodiscard]] bool has_streams() const { return questions_.dialect() == Dialect::kGrpc; }

  void Ask(Connection& connection, std::size_t count, Time since);
  void AskWhatIsDue(Time now);
  void Send(Connection& connection);
  void Receive(Connection& connection);
  void Count(Connection& connection, const Heard& heard);
  void CountUnanswered(Time end);
  void Lose(std::string what) {
    if (!problem_) problem_ = Error{std::move(what)};
  }

  const LoadOptions& options_;
  const Questions& questions_;
  Descriptor epoll_;
  std::vector<char> in_;
  std::vector<Connection> connections_;
  LoadResult result_;
  Time counts_from_ = 0;
  double due_ = 0;  // when the next request of the open loop is
  std::size_t turn_ = 0;
  std::optional<Error> problem_;
};

std::optional<Error> Load::Connect() {
  const Result<net::SocketAddress> address = net::ToSocketAddress(options_.server);
  if (!address) return address.error();
  connections_.resize(options_.connections);
  for (std::size_t i = 0; i < connections_.size(); ++i) {
    Connection& connection = connections_[i];
    connection.socket = Descriptor(socket(address->storage.ss_family, SOCK_STREAM, 0));
    const int fd = connection.socket.get();
    if (connect(fd, address->get(), address->size) != 0) {
      return Error{options_.server.ToString() + ": " + std::strerror(errno)};
    }
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // a Unix socket has no such thing
    fcntl(fd, F_SETFL, O_NONBLOCK);
    epoll_event event{.events = EPOLLIN, .data = {.u64 = i}};
    epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
    connection.dialogue = MakeDialogue(questions_, i * questions_.count() / connections_.size());
    connection.dialogue->Greet(connection.out);
  }
  return std::nullopt;
}

void Load::Ask(Connection& connection, std::size_t count, Time since) {
  connection.dialogue->Ask(count, connection.out);
  connection.waiting.push_back({since, count});
}

void Load::AskWhatIsDue(Time now) {
  constexpr int kMostAtOnce = 64;  // then answers are looked at
  const double apart = 1e9 * static_cast<double>(options_.pipeline) / options_.rate;
  for (int i = 0; i < kMostAtOnce && due_ <= static_cast<double>(now); ++i) {
    Connection& connection = connections_[turn_++ % connections_.size()];
    Ask(connection, options_.pipeline, static_cast<Time>(due_));
    Send(connection);
    due_ += apart;
  }
}

void Load::Send(Connection& connection) {
  std::size_t sent = 0;
  while (sent < connection.out.size()) {
    const ssize_t put = send(connection.socket.get(), connection.out.data() + sent,
                             connection.out.size() - sent, MSG_NOSIGNAL);
    if (put < 0 && errno == EAGAIN) break;
    if (put < 0) return Lose(std::string("send: ") + std::strerror(errno));
    sent += static_cast<std::size_t>(put);
  }
  connection.out.erase(0, sent);
  const bool wants = !connection.out.empty();
  if (wants == connection.wants_to_write) return;
  connection.wants_to_write = wants;
  const auto place = static_cast<std::uint64_t>(&connection - connections_.data());
  epoll_event event{.events = EPOLLIN | (wants ? EPOLLOUT : 0U), .data = {.u64 = place}};
  epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, connection.socket.get(), &event);
}

void Load::Receive(Connection& connection) {
  const ssize_t got = recv(connection.socket.get(), in_.data(), in_.size(), 0);
  if (got < 0 && errno == EAGAIN) return;
  if (got <= 0) return Lose("the server has closed a connection");
  const std::string_view fresh(in_.data(), static_cast<std::size_t>(got));
  Heard heard;
  if (connection.unread.empty()) {
    heard = connection.dialogue->Hear(fresh, connection.out);
    connection.unread.assign(fresh.substr(heard.consumed));
  } else {
    connection.unread += fresh;
    heard = connection.dialogue->Hear(connection.unread, connection.out);
    connection.unread.erase(0, heard.consumed);
  }
  Count(connection, heard);
  if (!is_open_loop()) {
    if (has_streams()) {
      if (heard.answers > 0) Ask(connection, heard.answers, Now());
    } else if (connection.waiting.empty()) {
      Ask(connection, options_.pipeline, Now());
    }
  }
  if (!connection.out.empty()) Send(connection);
}

// Answers are taken to come in the order of the requests. Where they do not (streams), times are
// evened out a little; their sum is right.
void Load::Count(Connection& connection, const Heard& heard) {
  const Time now = Now();
  result_.total += heard.answers;
  if (now >= counts_from_) {
    result_.answers += heard.answers;
    result_.refused += heard.refused;
    result_.failed += heard.failed;
  }
  for (std::uint64_t left = heard.answers; left > 0;) {
    if (connection.waiting.empty()) return Lose("the server answers what it was not asked");
    Waiting& first = connection.waiting.front();
    const std::uint64_t some = std::min(left, first.count);
    if (first.since >= counts_from_) result_.latency.Add(now - first.since, some);
    first.count -= some;
    left -= some;
    if (first.count == 0) connection.waiting.pop_front();
  }
}

void Load::CountUnanswered(Time end) {
  for (const Connection& connection : connections_) {
    for (const Waiting& waiting : connection.waiting) {
      if (waiting.since >= counts_from_) result_.latency.Add(end - waiting.since, waiting.count);
    }
  }
}

Result<LoadResult> Load::Run() {
  const Time begin = Now();
  counts_from_ = begin + Seconds(options_.warm_up);
  const Time end = counts_from_ + Seconds(options_.seconds);
  due_ = static_cast<double>(begin);
  for (Connection& connection : connections_) {
    if (!is_open_loop()) Ask(connection, options_.pipeline, begin);
    Send(connection);
  }
  std::array<epoll_event, 64> events;
  Time now = begin;
  for (; now < end && !problem_; now = Now()) {
    if (is_open_loop()) AskWhatIsDue(now);
    const int ready = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                 is_open_loop() ? 0 : 10);
    for (int i = 0; i < ready; ++i) {
      Connection& connection = connections_[events[static_cast<std::size_t>(i)].data.u64];
      if ((events[static_cast<std::size_t>(i)].events & EPOLLOUT) != 0) Send(connection);
      if ((events[static_cast<std::size_t>(i)].events & ~EPOLLOUT) != 0) Receive(connection);
    }
  }
  if (problem_) return *problem_;
  result_.seconds = static_cast<double>(now - counts_from_) / 1e9;
  if (is_open_loop()) CountUnanswered(now);
  return result_;
}

}  // namespace

Result<LoadResult> RunLoad(const LoadOptions& options, const Questions& questions) {
  Load load(options, questions);
  if (auto problem = load.Connect()) return *problem;
  return load.Run();
}

}  // namespace weir::bench
