// A client that says something and waits for the answer, as most clients do.
#pragma once

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "net/endpoint.h"

namespace weir {

class BlockingClient {
 public:
  explicit BlockingClient(const std::string& address) {
    const net::SocketAddress to = *net::ToSocketAddress(net::Endpoint::Parse(address).value());
    socket_ = Descriptor(socket(to.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    is_open_ = connect(socket_.get(), to.get(), to.size) == 0;
  }

  // Until something has failed, or the server has closed its side.
  [[nodiscard]] bool is_open() const { return is_open_; }

  void Send(std::string_view bytes) {
    is_open_ = is_open_ && send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                               static_cast<ssize_t>(bytes.size());
  }
  // An answer of so many lines; empty if the server has gone.
  std::string Receive(int lines) {
    std::string answer;
    std::array<char, 4096> block{};
    while (is_open_ && std::count(answer.begin(), answer.end(), '\n') < lines) {
      const ssize_t got = recv(socket_.get(), block.data(), block.size(), 0);
      is_open_ = got > 0;
      if (is_open_) answer.append(block.data(), static_cast<std::size_t>(got));
    }
    return is_open_ ? answer : "";
  }
  // Whatever comes first, at least a byte of it.
  void ReceiveSome() {
    std::array<char, 4096> block{};
    is_open_ = is_open_ && recv(socket_.get(), block.data(), block.size(), 0) > 0;
  }
  std::string Ask(std::string_view request, int lines) {
    Send(request);
    return Receive(lines);
  }
  // Looks whether the server has closed its side; what it has sent is thrown away.
  bool HasEnded() {
    std::array<char, 4096> block{};
    const ssize_t got = recv(socket_.get(), block.data(), block.size(), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN)) is_open_ = false;
    return !is_open_;
  }

  // May `user` pass, by POST /v1/check or WEIR.CHECK? Only if is_open() afterwards.
  bool AskHttp(const std::string& user) {
    const std::string body = R"({"namespace":"default","attributes":{"user":")" + user + R"("}})";
    return Ask("POST /v1/check HTTP/1.1\r\nHost: weir\r\nContent-Length: " +
                   std::to_string(body.size()) + "\r\n\r\n" + body,
               5)
               .find(R"({"allowed":true)") != std::string::npos;
  }
  bool AskResp(const std::string& user) {
    return Ask("WEIR.CHECK default user " + user + "\r\n", 9).starts_with("*7\r\n:1\r\n");
  }

 private:
  Descriptor socket_;
  bool is_open_ = false;
};

}  // namespace weir
