// For tests of what stands on a connection: a worker whose loop the test turns itself, at a time
// that the test sets, and clients that never block. Everything is in one thread, so that a test can
// say what happened before what.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "net/connection.h"
#include "net/worker.h"

namespace weir::net {

class TestClient {
 public:
  explicit TestClient(const Endpoint& endpoint, int receive_buffer = 0) {
    const SocketAddress address = *ToSocketAddress(endpoint);
    socket_ = Descriptor(socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (receive_buffer > 0) {
      setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    }
    // Loopback connects at once, accepted or not.
    connected_ = connect(socket_.get(), address.get(), address.size) == 0;
    fcntl(socket_.get(), F_SETFL, O_NONBLOCK);
  }

  [[nodiscard]] bool is_connected() const { return connected_; }
  // As much as the kernel takes.
  std::size_t Send(std::string_view bytes) const {
    const ssize_t put = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    return put > 0 ? static_cast<std::size_t>(put) : 0;
  }
  // Takes what is there, at most so much.
  void Receive(std::size_t most = std::size_t{1} << 30) {
    std::string buffer(65536, '\0');
    while (most > 0) {
      const ssize_t got = recv(socket_.get(), buffer.data(), std::min(most, buffer.size()), 0);
      if (got <= 0) {
        if (got == 0) ended_ = true;
        if (got < 0 && errno != EAGAIN) reset_ = true;
        return;
      }
      received_.append(buffer, 0, static_cast<std::size_t>(got));
      most -= static_cast<std::size_t>(got);
    }
  }
  void HalfClose() const { shutdown(socket_.get(), SHUT_WR); }
  void Close() { socket_ = Descriptor(); }
  // Without the usual goodbye.
  void Reset() {
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    Close();
  }

  [[nodiscard]] const std::string& received() const { return received_; }
  [[nodiscard]] bool is_ended() const { return ended_ || reset_; }
  [[nodiscard]] bool is_reset() const { return reset_; }

 private:
  Descriptor socket_;
  std::string received_;
  bool connected_ = false;
  bool ended_ = false;
  bool reset_ = false;
};

class NetHarness {
 public:
  explicit NetHarness(ListenerOptions options, const AdmissionLimits& admission = {})
      : options_(std::move(options)),
        admission_(admission),
        worker_(admission_, [this] { return now_; }) {
    if (options_.address.empty()) options_.address = "127.0.0.1:0";
    const auto sockets = ListeningSocket::Open(Endpoint::Parse(options_.address).value(), 1,
                                               {.unix_mode = options_.unix_mode});
    endpoint_ = sockets.value().front()->endpoint();
    worker_.Listen(sockets->front(), options_);
  }

  TestClient Connect(int receive_buffer = 0) const { return TestClient(endpoint_, receive_buffer); }

  // Turns until it is so; false if that takes too long.
  [[nodiscard]] bool TurnUntil(const std::function<bool()>& is_so) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!is_so()) {
      if (std::chrono::steady_clock::now() > end) return false;
      worker_.loop().Turn(std::chrono::milliseconds(1));
    }
    return true;
  }
  [[nodiscard]] bool TurnUntilReceived(TestClient& client, std::string_view all) {
    const bool received = TurnUntil([&] {
      client.Receive();
      return client.received().size() >= all.size();
    });
    return received && client.received() == all;
  }
  [[nodiscard]] bool TurnUntilEnded(TestClient& client) {
    return TurnUntil([&] {
      client.Receive();
      return client.is_ended();
    });
  }
  // Long enough for what should not happen to happen.
  void Settle() {
    for (int i = 0; i < 5; ++i) worker_.loop().Turn(std::chrono::milliseconds(1));
  }
  // Time passes, and is noticed.
  void Advance(Nanos time) {
    now_ += time;
    worker_.loop().Turn(Nanos(0));
  }

  [[nodiscard]] Totals totals() const { return worker_.counters().Read(); }
  [[nodiscard]] std::uint64_t closed_by(Ending ending) const { return totals().closed_by(ending); }
  [[nodiscard]] const Endpoint& endpoint() const { return endpoint_; }
  Worker& worker() { return worker_; }

 private:
  Instant now_{std::chrono::hours(1)};
  ListenerOptions options_;
  Admission admission_;
  Worker worker_;
  Endpoint endpoint_;
};

// A handler made of functions, for the protocol of a test.
struct Script {
  std::function<Progress(std::string_view, Connection&, std::string&)> on_bytes;
  std::function<Next(Connection&, std::string&)> on_resume = [](Connection&, std::string&) {
    return Next::kRead;
  };
  std::function<void()> on_gone = [] {};
  std::string news = {};      // OnNews()
  std::string farewell = {};  // OnEnding()
};

class ScriptedHandler final : public Handler {
 public:
  explicit ScriptedHandler(Script script) : script_(std::move(script)) {}
  Progress OnBytes(std::string_view unread, Connection& connection, std::string& out) override {
    return script_.on_bytes(unread, connection, out);
  }
  Next OnResume(Connection& connection, std::string& out) override {
    return script_.on_resume(connection, out);
  }
  void OnNews(std::string& out) override { out += script_.news; }
  void OnEnding(std::string& out) override { out += script_.farewell; }
  void OnGone(Connection& /*connection*/) override { script_.on_gone(); }

 private:
  Script script_;
};

inline HandlerFactory Scripted(Script script) {
  return [script = std::move(script)](const ConnectionFacts&) {
    return std::make_unique<ScriptedHandler>(script);
  };
}

// Sends back what comes.
inline HandlerFactory Echo() {
  return Scripted({.on_bytes = [](std::string_view unread, Connection&, std::string& out) {
    out += unread;
    return Progress{.consumed = unread.size()};
  }});
}

// Calls `answer` for each line that is complete, with its end; it writes to `out`.
template <typename Answer>
Progress ForEachLine(std::string_view unread, Answer answer) {
  std::size_t consumed = 0;
  for (std::size_t end; (end = unread.find('\n', consumed)) != std::string_view::npos;) {
    const Progress progress = answer(unread.substr(consumed, end + 1 - consumed));
    consumed = end + 1;
    if (progress.next != Next::kRead) return {.consumed = consumed, .next = progress.next};
  }
  return {.consumed = consumed};
}

// Sends back lines, and what is new.
inline HandlerFactory EchoLines(std::string news = {}) {
  return Scripted({.on_bytes =
                       [](std::string_view unread, Connection&, std::string& out) {
                         return ForEachLine(unread, [&](std::string_view line) {
                           out += line;
                           return Progress{};
                         });
                       },
                   .news = std::move(news)});
}

}  // namespace weir::net
