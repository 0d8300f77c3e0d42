// The protocols, as connections want them.
#pragma once

#include "frontend/grpc_session.h"
#include "frontend/http_session.h"
#include "frontend/resp_session.h"
#include "net/handler.h"
#include "service/checker.h"

namespace weir {

// `checker` and `options` must outlive every connection.
net::HandlerFactory HttpHandlers(Checker& checker, const HttpOptions& options);
net::HandlerFactory RespHandlers(Checker& checker, const RespOptions& options);
net::HandlerFactory GrpcHandlers(Checker& checker, const GrpcOptions& options);

}  // namespace weir
