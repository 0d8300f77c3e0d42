// An application behind a gateway: its answer is the request that reached it, head and body.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "net/server.h"
#include "wire/http_reader.h"
#include "wire/http_reply.h"
#include "wire/http_request.h"

namespace weir {

class EchoApplication {
 public:
  EchoApplication() {
    auto server = net::Server::Start(
        {.loops = 1}, {{.address = "127.0.0.1:0", .handlers = [this](const auto& /*facts*/) {
                          return std::make_unique<Echo>(requests_);
                        }}});
    EXPECT_TRUE(server.ok());
    if (server.ok()) server_ = std::move(*server);
  }

  [[nodiscard]] std::string address() const { return server_->endpoints().front().ToString(); }
  // So many have reached it.
  [[nodiscard]] int requests() const { return requests_; }

 private:
  class Echo final : public net::Handler {
   public:
    explicit Echo(std::atomic<int>& requests) : requests_(requests) {}

    net::Progress OnBytes(std::string_view unread, net::Connection& /*connection*/,
                          std::string& out) override {
      wire::HttpRequest request;
      const wire::HttpRead read = wire::HttpReader().Read(unread, request);
      if (read.status == wire::HttpStatus::kBad) return {.next = net::Next::kDrop};
      const std::size_t size = read.consumed + request.content_length;
      if (read.status == wire::HttpStatus::kNeedMore || unread.size() < size) return {};
      ++requests_;
      wire::HttpReply(out, 200, wire::HttpReplyTo::Of(request))
          .Finish("text/plain", unread.substr(0, size));
      return {.consumed = size, .next = request.keep_alive ? net::Next::kRead : net::Next::kClose};
    }

   private:
    std::atomic<int>& requests_;
  };

  std::atomic<int> requests_ = 0;
  std::unique_ptr<net::Server> server_;  // last: its threads use what is above
};

}  // namespace weir
