// The least that a server can do: it receives, says the same to each request, and sends. Nearly all
// that takes is the kernel's, so who is as fast has nothing left to save but system calls.
//
//   build/bench/bare_peer PORT
//
// As Weir does, it hears everybody who is ready before it answers them. Requests are counted, not
// read: in RESP by their asterisks, in HTTP by their empty lines.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"

namespace weir::bench {
namespace {

// Of the sizes that Weir's have.
constexpr std::string_view kRespAnswer = "*5\r\n:0\r\n:1001\r\n:1000\r\n:-1\r\n:0\r\n";
constexpr std::string_view kHttpAnswer =
    "HTTP/1.1 200 OK\r\n"
    "RateLimit-Policy: \"api-per-ip\";q=5000;w=1, \"api-per-key\";q=4000;w=1\r\n"
    "RateLimit: \"api-per-ip\";r=4999;t=1, \"api-per-key\";r=3999;t=1\r\n"
    "Content-Length: 0\r\n\r\n";

std::size_t RequestsIn(std::string_view bytes) {
  if (bytes[0] == '*') return static_cast<std::size_t>(std::count(bytes.begin(), bytes.end(), '*'));
  std::size_t requests = 0;
  constexpr std::string_view kEnd = "\r\n\r\n";
  for (std::size_t at = 0; (at = bytes.find(kEnd, at)) != bytes.npos; at += kEnd.size()) ++requests;
  return requests;
}

[[noreturn]] void Fail(const char* why) {
  std::fprintf(stderr, "bare_peer: %s\n", why);
  std::exit(1);
}

int Demand(int result, const char* what) {
  if (result >= 0) return result;
  std::perror(what);
  std::exit(1);
}

Descriptor Listen(std::uint16_t port) {
  Descriptor listening(Demand(socket(AF_INET, SOCK_STREAM, 0), "socket"));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  Demand(bind(listening.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), "bind");
  Demand(listen(listening.get(), SOMAXCONN), "listen");
  return listening;
}

void Watch(const Descriptor& epoll, int fd) {
  epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
  Demand(epoll_ctl(epoll.get(), EPOLL_CTL_ADD, fd, &event), "epoll_ctl");
}

int Main(std::uint16_t port) {
  const Descriptor listening = Listen(port);
  const Descriptor epoll(Demand(epoll_create1(0), "epoll_create1"));
  Watch(epoll, listening.get());
  struct Owed {
    int fd;
    std::string_view answer;
    std::size_t times;
  };
  std::vector<Owed> owed;
  std::vector<char> in(std::size_t{64} << 10);
  std::string out;
  std::array<epoll_event, 256> events;
  for (;;) {
    const int ready = epoll_wait(epoll.get(), events.data(), static_cast<int>(events.size()), -1);
    owed.clear();
    for (int i = 0; i < ready; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      if (fd == listening.get()) {
        const int one = 1;
        const int client = Demand(accept4(fd, nullptr, nullptr, SOCK_NONBLOCK), "accept4");
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        Watch(epoll, client);
        continue;
      }
      const ssize_t got = recv(fd, in.data(), in.size(), 0);
      if (got <= 0) {
        close(fd);
        continue;
      }
      const std::string_view bytes(in.data(), static_cast<std::size_t>(got));
      const bool is_resp = bytes[0] == '*';
      if (!bytes.ends_with(is_resp ? "\r\n" : "\r\n\r\n")) {
        Fail("a request came in two parts: this measures nothing");
      }
      owed.push_back({fd, is_resp ? kRespAnswer : kHttpAnswer, RequestsIn(bytes)});
    }
    for (const Owed& one : owed) {
      out.clear();
      for (std::size_t i = 0; i < one.times; ++i) out += one.answer;
      const ssize_t sent = send(one.fd, out.data(), out.size(), MSG_NOSIGNAL);
      const bool is_cut_off = static_cast<std::size_t>(sent) < out.size();  // not if it is -1
      if (is_cut_off || (sent < 0 && errno == EAGAIN)) Fail("an answer does not fit the socket");
    }
  }
}

}  // namespace
}  // namespace weir::bench

int main(int argc, char** argv) {
  const int port = argc == 2 ? std::atoi(argv[1]) : 0;
  if (port < 1 || port > 65535) {
    std::fprintf(stderr, "usage: bare_peer PORT\n");
    return 2;
  }
  return weir::bench::Main(static_cast<std::uint16_t>(port));
}
