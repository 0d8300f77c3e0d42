// A Redis that is the test itself: it reads what came and says what it wants to, in one thread with
// its client.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "net/endpoint.h"
#include "tests/temporary_file.h"

namespace weir {

// On a Unix socket: what is sent there has arrived.
class FakeRedis {
 public:
  // What a client without a password says first.
  static constexpr std::string_view kHello =
      "*4\r\n$5\r\nHELLO\r\n$1\r\n3\r\n$7\r\nSETNAME\r\n$4\r\nweir\r\n";

  FakeRedis() : listening_(socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)) {
    const net::SocketAddress address = *net::ToSocketAddress(endpoint_);
    EXPECT_EQ(bind(listening_.get(), address.get(), address.size), 0);
    EXPECT_EQ(listen(listening_.get(), 16), 0);
  }

  [[nodiscard]] const net::Endpoint& endpoint() const { return endpoint_; }
  // Whether somebody has connected.
  bool Accept() {
    client_ = Descriptor(accept4(listening_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    return client_.is_open();
  }
  // What has come.
  std::string Read() {
    std::string all;
    char block[65536];
    for (ssize_t got = 0; (got = recv(client_.get(), block, sizeof block, 0)) > 0;) {
      all.append(block, static_cast<std::size_t>(got));
    }
    return all;
  }
  void Say(std::string_view bytes) const {
    EXPECT_EQ(send(client_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  void HangUp() { client_ = Descriptor(); }
  void GoAway() {
    client_ = Descriptor();
    listening_ = Descriptor();
  }

 private:
  TemporaryFile file_;
  net::Endpoint endpoint_{"", 0, file_.path()};
  Descriptor listening_;
  Descriptor client_;
};

}  // namespace weir
