// What a connection costs before any protocol: echo of 64-byte messages over loopback.
//
//   build/bench/net_bench [seconds]
//
// One loop serves. One client thread keeps 64 connections busy with pipelines of 1, 16 and 64
// messages: it sends a pipeline on each, then takes all answers. Give the two threads a core each;
// the loop's own time (its thread's CPU time per message) is what the server pays, whatever the
// client does.
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "net/server.h"

namespace weir::net {
namespace {

constexpr std::size_t kMessage = 64;
constexpr std::size_t kConnections = 64;

std::atomic<std::int64_t> server_nanos = 0;  // CPU time of the loop's thread

class EchoHandler final : public Handler {
 public:
  Progress OnBytes(std::string_view unread, Connection& /*connection*/, std::string& out) override {
    out += unread;
    return {.consumed = unread.size()};
  }
};

// The loop reads the clock once per turn: a place to note its thread's own time as well, now and
// then.
Instant NotingClock() {
  static thread_local unsigned turns = 0;
  if (++turns % 64 == 0) {
    timespec used{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    server_nanos.store(used.tv_sec * 1'000'000'000 + used.tv_nsec, std::memory_order_relaxed);
  }
  return Clock::now();
}

Descriptor Connect(const Endpoint& endpoint) {
  const SocketAddress address = ToSocketAddress(endpoint).value();
  Descriptor client(socket(address.storage.ss_family, SOCK_STREAM, 0));
  if (connect(client.get(), address.get(), address.size) != 0) std::abort();
  return client;
}

void Send(const Descriptor& client, const std::string& bytes) {
  if (send(client.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(bytes.size())) {
    std::abort();
  }
}

void Receive(const Descriptor& client, std::string& into) {
  if (recv(client.get(), into.data(), into.size(), MSG_WAITALL) !=
      static_cast<ssize_t>(into.size())) {
    std::abort();
  }
}

void Measure(const Endpoint& endpoint, std::size_t pipeline, double seconds) {
  std::vector<Descriptor> clients;
  for (std::size_t i = 0; i < kConnections; ++i) clients.push_back(Connect(endpoint));
  const std::string request(kMessage * pipeline, 'x');
  std::string answer = request;
  const auto round = [&] {
    for (const Descriptor& client : clients) Send(client, request);
    for (const Descriptor& client : clients) Receive(client, answer);
  };
  for (int i = 0; i < 200; ++i) round();
  const auto begin = std::chrono::steady_clock::now();
  const std::int64_t server_begin = server_nanos.load(std::memory_order_relaxed);
  std::size_t messages = 0;
  double elapsed = 0;
  while (elapsed < seconds) {
    round();
    messages += kConnections * pipeline;
    elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  const auto count = static_cast<double>(messages);
  const auto busy =
      static_cast<double>(server_nanos.load(std::memory_order_relaxed) - server_begin);
  std::printf("pipeline %3zu: %10.0f messages/s; the loop needs %6.1f ns each: %10.0f/s per core\n",
              pipeline, count / elapsed, busy / count, count / busy * 1e9);
}

int Main(double seconds) {
  const auto server = Server::Start(
      {.time = NotingClock}, {{.address = "127.0.0.1:0", .handlers = [](const ConnectionFacts&) {
                                 return std::make_unique<EchoHandler>();
                               }}});
  if (!server.ok()) {
    std::fprintf(stderr, "%s\n", server.error().message.c_str());
    return 1;
  }
  for (const std::size_t pipeline : {1, 16, 64}) {
    Measure((*server)->endpoints().front(), pipeline, seconds);
  }
  return 0;
}

}  // namespace
}  // namespace weir::net

int main(int argc, char** argv) { return weir::net::Main(argc > 1 ? std::atof(argv[1]) : 3); }
