// Server reflection of gRPC: tools ask which services there are and what their messages look like,
// and need no files of ours. grpc.reflection.v1 and v1alpha differ in their names only.
#pragma once

#include <string>
#include <string_view>

#include "wire/grpc_status.h"

namespace weir {

// Appends the answer to one message of ServerReflectionInfo to `response`. What is not found is
// said in the answer; a status other than OK ends the call.
wire::GrpcStatus AnswerReflection(std::string_view message, std::string& response);

}  // namespace weir
