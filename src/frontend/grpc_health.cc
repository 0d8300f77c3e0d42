#include "frontend/grpc_health.h"

#include <grpc/health/v1/health.pb.h>

#include <algorithm>

namespace weir {

using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using wire::GrpcCode;
using wire::GrpcStatus;

enum class GrpcHealth::Health : std::uint8_t {
  kServing = HealthCheckResponse::SERVING,
  kNotServing = HealthCheckResponse::NOT_SERVING,
  kUnknown = HealthCheckResponse::SERVICE_UNKNOWN,
};

namespace {

// "ratelimit" is what envoyproxy/ratelimit is asked for.
bool IsKnown(const std::string& service) {
  return service.empty() || service == "ratelimit" ||
         service == "envoy.service.ratelimit.v3.RateLimitService";
}

GrpcStatus Unreadable() { return {GrpcCode::kInternal, "the message is no HealthCheckRequest"}; }

bool Parse(std::string_view message, HealthCheckRequest& request) {
  return request.ParseFromArray(message.data(), static_cast<int>(message.size()));
}

}  // namespace

GrpcStatus GrpcHealth::Check(std::string_view message, std::string& response) const {
  HealthCheckRequest request;
  if (!Parse(message, request)) return Unreadable();
  if (!IsKnown(request.service())) {
    return {GrpcCode::kNotFound, "there is no service '" + request.service() + "' here"};
  }
  HealthCheckResponse answer;
  answer.set_status(is_ready() ? HealthCheckResponse::SERVING : HealthCheckResponse::NOT_SERVING);
  answer.AppendToString(&response);
  return {};
}

void GrpcHealth::Watch(wire::GrpcCall& call, std::string_view message) {
  const auto is_this = [&](const Watcher& watcher) { return watcher.call == &call; };
  HealthCheckRequest request;
  if (!Parse(message, request)) return call.Finish(Unreadable());
  if (std::any_of(watchers_.begin(), watchers_.end(), is_this)) {
    return call.Finish({GrpcCode::kInternal, "Watch has one message, got another"});
  }
  const bool is_known = IsKnown(request.service());
  watchers_.push_back({&call, is_known, Health::kUnknown});
  Tell(watchers_.back(), !is_known    ? Health::kUnknown
                         : is_ready() ? Health::kServing
                                      : Health::kNotServing);
}

void GrpcHealth::Tell(Watcher& watcher, Health health) {
  watcher.told = health;
  HealthCheckResponse answer;
  answer.set_status(static_cast<HealthCheckResponse::ServingStatus>(health));
  watcher.call->Send(answer.SerializeAsString());
}

void GrpcHealth::TellChanges() {
  if (watchers_.empty()) return;
  const Health health = is_ready() ? Health::kServing : Health::kNotServing;
  for (Watcher& watcher : watchers_) {
    if (watcher.is_known && watcher.told != health) Tell(watcher, health);
  }
}

void GrpcHealth::Forget(const wire::GrpcCall& call) {
  std::erase_if(watchers_, [&](const Watcher& watcher) { return watcher.call == &call; });
}

void GrpcHealth::EndAll() {
  for (Watcher& watcher : watchers_) {
    if (watcher.is_known && watcher.told != Health::kNotServing) Tell(watcher, Health::kNotServing);
    watcher.call->Finish({GrpcCode::kUnavailable, "the server is about to end; ask another"});
  }
}

}  // namespace weir
