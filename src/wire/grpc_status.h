// How a call of gRPC ended.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weir::wire {

// The codes that are used here; the numbers are those on the wire.
enum class GrpcCode : std::uint8_t {
  kOk = 0,
  kUnknown = 2,
  kInvalidArgument = 3,
  kNotFound = 5,
  kResourceExhausted = 8,
  kUnimplemented = 12,
  kInternal = 13,
  kUnavailable = 14,
};

struct GrpcStatus {
  GrpcCode code = GrpcCode::kOk;
  std::string message = {};  // any text; the connection encodes it

  [[nodiscard]] bool ok() const { return code == GrpcCode::kOk; }
  bool operator==(const GrpcStatus&) const = default;
};

// As the field grpc-message wants it: percent-encoded but for what ASCII can print, and not
// endless.
std::string EncodeGrpcMessage(std::string_view message);

}  // namespace weir::wire
