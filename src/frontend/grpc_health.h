// Health of gRPC: whether calls are answered, asked once or watched.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wire/grpc_service.h"
#include "wire/grpc_status.h"

namespace weir {

// Of one connection.
class GrpcHealth {
 public:
  // `ready` outlives it; null: always.
  explicit GrpcHealth(const std::atomic<bool>* ready) : ready_(ready) {}

  // Check: appends the answer.
  wire::GrpcStatus Check(std::string_view message, std::string& response) const;

  // Watch: says how it is, and again when TellChanges() finds it changed, until the call is over.
  void Watch(wire::GrpcCall& call, std::string_view message);
  void TellChanges();
  void Forget(const wire::GrpcCall& call);
  // The last change, for all: the connection ends.
  void EndAll();

 private:
  enum class Health : std::uint8_t;
  struct Watcher {
    wire::GrpcCall* call;
    bool is_known;  // there is such a service
    Health told;
  };
  [[nodiscard]] bool is_ready() const { return ready_ == nullptr || *ready_; }
  static void Tell(Watcher& watcher, Health health);

  const std::atomic<bool>* ready_;
  std::vector<Watcher> watchers_;
};

}  // namespace weir
