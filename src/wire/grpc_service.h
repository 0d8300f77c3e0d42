// Whoever answers the calls of a gRPC connection, and what it can do to a call.
//
// A unary call is one question and one answer: the service is asked once, when all has come, and
// answers at once or later. In a call of streams both sides say as many messages as they like, when
// they like.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/grpc_status.h"

namespace weir::wire {

enum class GrpcShape : std::uint8_t {
  kUnknown,  // there is no such method
  kUnary,
  kStreams,
};

struct GrpcMethod {
  GrpcShape shape = GrpcShape::kUnknown;
  std::uint8_t number = 0;  // the service's own
};

// A call of streams, or one that is answered later. It lives until GrpcService::OnGone().
class GrpcCall {
 public:
  GrpcCall(const GrpcCall&) = delete;
  GrpcCall& operator=(const GrpcCall&) = delete;

  // Says a message, behind those that the client has not taken yet. Goes out when the connection
  // writes next. Nothing can be said after Finish().
  virtual void Send(std::string_view message) = 0;
  // Says how the call ended, behind its messages.
  virtual void Finish(const GrpcStatus& status) = 0;
  [[nodiscard]] virtual std::uint8_t method() const = 0;

 protected:
  GrpcCall() = default;
  ~GrpcCall() = default;
};

class GrpcService {
 public:
  GrpcService() = default;
  GrpcService(const GrpcService&) = delete;
  GrpcService& operator=(const GrpcService&) = delete;
  virtual ~GrpcService() = default;

  // `path` is "/package.Service/Method".
  virtual GrpcMethod Find(std::string_view path) = 0;

  // Answers a unary call: appends to `response`, which may hold something already, or says why not.
  // Nothing: it is answered later, by one call.Send() and call.Finish(), or by Finish() alone. The
  // message is good for this call only.
  virtual std::optional<GrpcStatus> Answer(GrpcCall& call, std::string_view message,
                                           std::string& response) = 0;

  // A message of a call of streams; good for this call only.
  virtual void OnMessage(GrpcCall& call, std::string_view message) = 0;
  // The client has said all it has to say.
  virtual void OnEnd(GrpcCall& call) = 0;
  // The call is over, whoever ended it. Not said when the connection ends: then all are.
  virtual void OnGone(GrpcCall& call) = 0;
};

}  // namespace weir::wire
