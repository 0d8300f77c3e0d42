// What one gRPC client asks, and what it is told: one object per connection.
//
//   envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit    frontend/should_rate_limit.h
//   grpc.health.v1.Health/Check, Watch                             frontend/grpc_health.h
//   grpc.reflection.v1 and v1alpha .ServerReflection               frontend/grpc_reflection.h
//
// Bytes in, bytes out: it owns no socket and reads no clock. A call that has to wait for a cluster
// is answered when that is known; calls overtake each other.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "frontend/grpc_health.h"
#include "frontend/late_calls.h"
#include "frontend/should_rate_limit.h"
#include "frontend/traffic.h"
#include "service/checker.h"
#include "wire/grpc_connection.h"

namespace weir {

// The same for all connections.
struct GrpcOptions {
  RateLimitOptions rate_limit = {};
  wire::GrpcLimits limits = {};
  const std::atomic<bool>* ready = nullptr;  // null: always
  Traffic* traffic = nullptr;                // null: nobody counts
};

class GrpcSession final : private wire::GrpcService {
 public:
  struct Progress : wire::GrpcConnection::Progress {
    std::uint64_t requests = 0;
    std::uint64_t errors = 0;  // of these, answered with a status that is not OK
  };

  GrpcSession(Checker& checker, const GrpcOptions& options, ClusterSeat seat = {})
      : rate_limit_(checker, options.rate_limit),
        late_(seat),
        health_(options.ready),
        connection_(*this, options.limits) {}

  // Answers all calls that are complete in `bytes`, at one instant, but for those that wait.
  Progress Serve(std::string_view bytes, Instant now, std::string& out);
  // Some calls wait. When the waiter is told, Resume().
  [[nodiscard]] bool is_waiting() const { return !late_.empty(); }
  // Answers those that can be answered now.
  Progress Resume(Instant now, std::string& out);
  // The client has gone while calls waited: what was taken for them goes back.
  void Abandon(Instant now);

  // Who watches the server's health is told if that has changed.
  void TellNews(std::string& out);
  // The server is about to end. Who watches its health is told, and the client asks nothing more
  // here; calls under way are finished.
  void Leave();
  // Writes what Leave() has to say.
  void Write(std::string& out) { connection_.Write(out); }
  [[nodiscard]] bool is_over() const { return connection_.is_over(); }

 private:
  wire::GrpcMethod Find(std::string_view path) override;
  std::optional<wire::GrpcStatus> Answer(wire::GrpcCall& call, std::string_view message,
                                         std::string& response) override;
  void OnMessage(wire::GrpcCall& call, std::string_view message) override;
  void OnEnd(wire::GrpcCall& call) override;
  void OnGone(wire::GrpcCall& call) override;

  std::optional<wire::GrpcStatus> AnswerRateLimit(wire::GrpcCall& call, std::string_view message,
                                                  std::string& response);
  void Count(const wire::GrpcStatus& status);

  RateLimitMethod rate_limit_;
  LateCalls late_;
  GrpcHealth health_;
  wire::GrpcConnection connection_;
  std::string response_;  // to a call that has waited
  // Of the bytes at hand: when they came, and how many calls they brought.
  Instant now_{};
  std::uint64_t requests_ = 0;
  std::uint64_t errors_ = 0;
};

}  // namespace weir
