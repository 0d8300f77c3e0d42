#include "frontend/grpc_session.h"

#include "frontend/grpc_reflection.h"

namespace weir {
namespace {

using wire::GrpcCall;
using wire::GrpcCode;
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

GrpcSession::Progress GrpcSession::Resume(Instant now, std::string& out) {
  now_ = now;
  requests_ = 0;
  errors_ = 0;
  late_.GoOn([&](GrpcCall& call, std::string_view message, DescriptorReply& reply) {
    response_.clear();
    const std::optional<GrpcStatus> status = rate_limit_.Answer(message, now, reply, response_);
    if (!status) return false;
    Count(*status);
    if (status->ok()) call.Send(response_);
    call.Finish(*status);
    return true;
  });
  connection_.Write(out);
  Progress progress;
  progress.close = connection_.is_over();
  progress.requests = requests_;
  progress.errors = errors_;
  return progress;
}

void GrpcSession::Abandon(Instant now) {
  late_.ForgetAll([&](DescriptorReply& reply) { rate_limit_.GiveBack(reply, now); });
}

void GrpcSession::TellNews(std::string& out) {
  health_.TellChanges();
  connection_.Write(out);
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

std::optional<GrpcStatus> GrpcSession::Answer(GrpcCall& call, std::string_view message,
                                              std::string& response) {
  std::optional<GrpcStatus> status;
  if (call.method() == kHealthCheck) {
    status = health_.Check(message, response);
  } else {
    status = AnswerRateLimit(call, message, response);
  }
  if (status) Count(*status);
  return status;
}

std::optional<GrpcStatus> GrpcSession::AnswerRateLimit(GrpcCall& call, std::string_view message,
                                                       std::string& response) {
  // First of all: what is asked of the cluster counts.
  if (late_.may_wait() && !late_.HasRoomFor(message)) {
    return GrpcStatus{GrpcCode::kResourceExhausted, "too much waits at once: send it again later"};
  }
  DescriptorReply& reply = late_.may_wait() ? late_.next() : rate_limit_.reply();
  std::optional<GrpcStatus> status = rate_limit_.Answer(message, now_, reply, response);
  if (!status) late_.Add(call, message);
  return status;
}

void GrpcSession::Count(const GrpcStatus& status) {
  ++requests_;
  if (!status.ok()) ++errors_;
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
  late_.Forget(call, [&](DescriptorReply& reply) { rate_limit_.GiveBack(reply, now_); });
}

}  // namespace weir
