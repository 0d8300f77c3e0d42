#include "frontend/grpc_session.h"

#include "frontend/grpc_reflection.h"

namespace weir {
namespace {

using wire::GrpcCall;
using wire::GrpcMethod;
using wire::GrpcShape;
using wire::GrpcStatus;

enum Method : std::uint8_t { kShouldRateLimit, kHealthCheck, kHealthWatch, kReflection };

}  // namespace

GrpcSession::Progress GrpcSession::Serve(std::string_view bytes, Instant now, std::string& out) {
  now_ = now;
  requests_ = 0;
  errors_ = 0;
  health_.TellChanges();
  const wire::GrpcConnection::Progress progress = connection_.Serve(bytes, now, out);
  return {progress, requests_, errors_};
}

void GrpcSession::Leave() {
  health_.EndAll();
  connection_.GoAway();
}

GrpcMethod GrpcSession::Find(std::string_view path) {
  if (path == RateLimitMethod::kPath) return {GrpcShape::kUnary, kShouldRateLimit};
  if (path == "/grpc.health.v1.Health/Check") return {GrpcShape::kUnary, kHealthCheck};
  if (path == "/grpc.health.v1.Health/Watch") return {GrpcShape::kStreams, kHealthWatch};
  if (path == "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo" ||
      path == "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo") {
    return {GrpcShape::kStreams, kReflection};
  }
  return {};
}

GrpcStatus GrpcSession::Answer(std::uint8_t method, std::string_view message,
                               std::string& response) {
  ++requests_;
  GrpcStatus status;
  if (method == kHealthCheck) {
    status = health_.Check(message, response);
  } else {
    status = rate_limit_.Answer(message, now_, response_);
    response += response_;
  }
  if (!status.ok()) ++errors_;
  return status;
}

void GrpcSession::OnMessage(GrpcCall& call, std::string_view message) {
  if (call.method() == kHealthWatch) return health_.Watch(call, message);
  std::string answer;
  const GrpcStatus status = AnswerReflection(message, answer);
  if (status.ok()) {
    call.Send(answer);
  } else {
    call.Finish(status);
  }
}

void GrpcSession::OnEnd(GrpcCall& call) {
  // A watcher has nothing more to say and goes on listening.
  if (call.method() == kReflection) call.Finish({});
}

void GrpcSession::OnGone(GrpcCall& call) {
  if (call.method() == kHealthWatch) health_.Forget(call);
}

}  // namespace weir
