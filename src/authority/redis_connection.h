// One connection to one Redis, kept up: commands go out in one write per turn of the loop, answers
// come back in order, and every command is answered exactly once.
//
//     down --timer--> dialling --> shaking hands (TLS) --> greeting --> up --lost--> down
//                        |               |                    |                       ^
//                        +---------------+--------------------+------ failed ---------+
//
// What became of a command is known to the byte: one whose last byte was handed to the kernel
// before the connection was lost may have been executed (kUnknown), any other was not (kNotDone).
// Nothing is ever sent again from here.
//
// While a first connection is being made, commands wait for it. After a failure they do not: they
// are kNotDone at once until the server greets again.
//
// Bytes come in by Receive() and go out by Transmit() only, encrypted or not.
//
// Thread safety: the loop's thread only.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>

#include "authority/authority.h"
#include "authority/reconnect.h"
#include "base/descriptor.h"
#include "net/endpoint.h"
#include "net/loop.h"
#include "net/resolve.h"
#include "net/tls_client_stream.h"
#include "wire/resp_value.h"

namespace weir::authority {

struct RedisLogin {
  std::string user;      // empty: Redis's user "default"
  std::string password;  // empty: none is asked for
  int database = 0;
};

// All files are PEM, and read again for each connection: what was exchanged is used from the next
// one on.
struct RedisTls {
  std::string ca = {};           // a file: who vouches for the server; empty: the system's
  std::string server_name = {};  // that its certificate must have; empty: the host that is asked
  std::string certificate = {};  // files of our own, for a server that asks; empty: none
  std::string key = {};
};

struct RedisConnectionOptions {
  RedisLogin login;
  std::optional<RedisTls> tls;  // none: plain
  std::string opening;  // a command that each connection begins with; its answer is not looked at
  Nanos connect_patience = std::chrono::milliseconds(500);  // until the greeting is answered
  Nanos patience = std::chrono::seconds(1);                 // for the answer to a command
  std::size_t most_under_way = 65'536;                      // commands; more are kNotDone
  Reconnect reconnect;
  std::uint64_t seed = std::random_device()();  // of the chance in reconnecting
};

class RedisConnection final : public net::Loop::Watcher {
 public:
  // Names a command to whoever sent it.
  using Tag = std::uint64_t;
  // Of a command whose answer nobody wants.
  static constexpr Tag kNobody = ~Tag{0};

  class Client {
   public:
    Client() = default;
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;
    virtual ~Client() = default;
    // `answer` is null unless it is kDone, and valid during the call. May send more, but not
    // destroy the connection.
    virtual void OnAnswer(RedisConnection& connection, Tag tag, Outcome outcome,
                          wire::RespValue answer) = 0;
  };

  // Begins to connect. `client` outlives the connection.
  RedisConnection(net::Loop& loop, net::Endpoint endpoint, const RedisConnectionOptions& options,
                  Client& client);
  // Answers all that is under way.
  ~RedisConnection() override;

  // `command`: one, encoded. Answered by Client::OnAnswer(), perhaps before this returns.
  void Send(std::string_view command, Tag tag);

  [[nodiscard]] const net::Endpoint& endpoint() const { return endpoint_; }
  [[nodiscard]] bool is_up() const { return state_ == State::kUp; }
  [[nodiscard]] std::size_t under_way() const { return under_way_.size(); }
  // Why the last connection was lost or did not come about; empty while all is well.
  [[nodiscard]] const std::string& problem() const { return problem_; }

  void OnReady(std::uint32_t events) override;

 private:
  enum class State : std::uint8_t { kDown, kDialling, kShaking, kHello, kAuth, kSelect, kUp };

  struct UnderWay {
    Tag tag;
    std::uint64_t end;  // where its last byte is in all that was to be sent over this connection
    Instant since;
  };

  void Connect();
  void Dial(const Result<net::SocketAddress>& address);
  void Encrypt();
  void ShakeHands();
  void Greet(State step);
  void OnGreeting(wire::RespValue answer);
  void OnRefusal(wire::RespValue answer);
  void BeUp();
  void Read();
  bool Take(wire::RespValue answer);
  void FlushSoon();
  void Flush();
  void WatchFor(std::uint32_t events);
  void BePatient();
  void OnPatienceOver();
  [[nodiscard]] std::string WhyLost(int error) const;
  void Lose(std::string problem);
  void Close();

  std::ptrdiff_t Receive(std::span<char> buffer);
  std::ptrdiff_t Transmit(std::string_view bytes);

  net::Loop& loop_;
  net::Endpoint endpoint_;
  RedisConnectionOptions options_;
  Client& client_;
  std::minstd_rand chance_;

  State state_ = State::kDown;
  std::optional<net::Resolution> resolution_;  // of its name
  Descriptor socket_;
  std::optional<net::TlsClientStream> tls_;            // of socket_
  std::uint32_t interest_ = 0;                         // what the kernel was asked to tell
  std::uint64_t connections_ = 0;                      // made so far
  int failures_ = 0;                                   // since the last one that was up
  net::Loop::Timer dial_timer_ = net::Loop::kNoTimer;  // to connect, or to give up connecting
  net::Loop::Timer flush_timer_ = net::Loop::kNoTimer;
  net::Loop::Timer patience_timer_ = net::Loop::kNoTimer;

  wire::RespValueReader reader_;
  std::string unread_;
  std::string unsent_;
  std::size_t sent_ = 0;       // bytes of unsent_ that have gone out
  std::uint64_t written_ = 0;  // bytes that went out before those of unsent_
  std::deque<UnderWay> under_way_;
  std::string problem_;
};

}  // namespace weir::authority
