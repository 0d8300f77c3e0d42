// A client of HTTP/1.1 that asks and waits for the whole answer.
#pragma once

#include <sys/socket.h>

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/descriptor.h"
#include "net/endpoint.h"

namespace weir {

struct HttpAsk {
  std::string method = "GET";
  std::string target = "/";
  std::vector<std::pair<std::string, std::string>> fields = {};
  std::string body = {};
};

struct HttpAnswer {
  int status = 0;                                  // 0: none came
  std::map<std::string, std::string> fields = {};  // names in lower case
  std::string body = {};
};

class HttpClient {
 public:
  explicit HttpClient(const std::string& address) {
    const net::SocketAddress to = *net::ToSocketAddress(net::Endpoint::Parse(address).value());
    socket_ = Descriptor(socket(to.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    is_open_ = connect(socket_.get(), to.get(), to.size) == 0;
  }

  HttpAnswer Ask(const HttpAsk& question) {
    std::string bytes = question.method + " " + question.target + " HTTP/1.1\r\nHost: weir\r\n";
    for (const auto& [name, value] : question.fields) bytes += name + ": " + value + "\r\n";
    if (!question.body.empty()) {
      bytes += "Content-Length: " + std::to_string(question.body.size()) + "\r\n";
    }
    Send(bytes + "\r\n" + question.body);
    return Receive(question.method);
  }
  void Send(std::string_view bytes) {
    while (is_open_ && !bytes.empty()) {
      const ssize_t sent = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      is_open_ = sent > 0;
      if (is_open_) bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  HttpAnswer Receive(std::string_view method = "GET") {
    HttpAnswer answer;
    std::size_t end = std::string::npos;
    while ((end = unread_.find("\r\n\r\n")) == std::string::npos) {
      if (!ReceiveMore()) return answer;
    }
    const std::string head = unread_.substr(0, end + 2);
    unread_.erase(0, end + 4);
    answer.status = std::stoi(head.substr(head.find(' ') + 1));
    for (std::size_t at = head.find("\r\n") + 2; at < head.size();) {
      const std::size_t stop = head.find("\r\n", at);
      const std::size_t colon = head.find(": ", at);
      std::string name = head.substr(at, colon - at);
      for (char& c : name) c = ToLower(c);
      answer.fields[name] = head.substr(colon + 2, stop - colon - 2);
      at = stop + 2;
    }
    const std::size_t size = method == "HEAD" ? 0 : std::stoul(answer.fields["content-length"]);
    while (unread_.size() < size && ReceiveMore()) {
    }
    answer.body = unread_.substr(0, size);
    unread_.erase(0, size);
    return answer;
  }

 private:
  bool ReceiveMore() {
    std::array<char, 65536> block;
    const ssize_t got = recv(socket_.get(), block.data(), block.size(), 0);
    is_open_ = got > 0;
    if (is_open_) unread_.append(block.data(), static_cast<std::size_t>(got));
    return is_open_;
  }

  Descriptor socket_;
  bool is_open_ = false;
  std::string unread_;
};

}  // namespace weir
