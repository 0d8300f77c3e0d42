// For tests of a gRPC connection: a service that repeats what it hears, and a client of it.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tests/grpc_test_client.h"
#include "wire/grpc_connection.h"

namespace weir::wire {

// "/echo" says a message again, "/fail" why not, "/later" leaves it to who has the call; "/stream"
// repeats each message of a stream, says "bye" at its end, and "/open" says one message and stays.
class EchoService final : public GrpcService {
 public:
  GrpcMethod Find(std::string_view path) override {
    if (path == "/echo") return {GrpcShape::kUnary, 1};
    if (path == "/fail") return {GrpcShape::kUnary, 2};
    if (path == "/throw") return {GrpcShape::kUnary, 3};
    if (path == "/stream") return {GrpcShape::kStreams, 4};
    if (path == "/later") return {GrpcShape::kUnary, 5};
    return {};
  }
  std::optional<GrpcStatus> Answer(GrpcCall& call, std::string_view message,
                                   std::string& response) override {
    ++answered;
    if (call.method() == 2) {
      response += "not to be seen";
      return GrpcStatus{GrpcCode::kNotFound, "100% \u00fcber\n"};
    }
    if (call.method() == 3) throw std::runtime_error("broken");
    response.append(message);
    if (call.method() != 5) return GrpcStatus{};
    calls.push_back(&call);
    return std::nullopt;
  }
  void OnMessage(GrpcCall& call, std::string_view message) override {
    calls.push_back(&call);
    call.Send(message);
  }
  void OnEnd(GrpcCall& call) override {
    call.Send("bye");
    call.Finish({});
  }
  void OnGone(GrpcCall& /*call*/) override { ++gone; }

  int answered = 0;
  int gone = 0;
  std::vector<GrpcCall*> calls;
};

class GrpcConnectionTest : public testing::Test {
 protected:
  void Restart(const GrpcLimits& limits) {
    unread_.clear();
    connection_ = std::make_unique<GrpcConnection>(service_, limits);
  }
  // What the client has to say is served, in one read, and what the server says is heard.
  GrpcConnection::Progress Exchange() { return Serve(client_->Bytes()); }
  // What was not consumed before is shown again.
  GrpcConnection::Progress Serve(std::string_view bytes) {
    unread_ += bytes;
    std::string out;
    const GrpcConnection::Progress progress = connection_->Serve(unread_, now_, out);
    unread_.erase(0, progress.consumed);
    written_ += out.size();
    client_->Hear(out);
    return progress;
  }
  void ExchangeAll() {
    for (;;) {
      const std::string bytes = client_->Bytes();
      if (bytes.empty() && unread_.empty()) return;
      if (Serve(bytes).close) return;
    }
  }
  const GrpcHeard& Heard(std::int32_t id) { return client_->heard(id); }

  EchoService service_;
  Instant now_ = Instant(std::chrono::hours(1));
  std::size_t written_ = 0;
  std::string unread_;
  std::unique_ptr<GrpcTestClient> client_ = std::make_unique<GrpcTestClient>();
  std::unique_ptr<GrpcConnection> connection_ = std::make_unique<GrpcConnection>(service_);
};

}  // namespace weir::wire
