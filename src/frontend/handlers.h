// The protocols, as connections want them.
#pragma once

#include <vector>

#include "frontend/grpc_session.h"
#include "frontend/http_session.h"
#include "frontend/resp_session.h"
#include "net/handler.h"
#include "service/checker.h"
#include "service/cluster.h"

namespace weir {

// Of each loop, by its number; empty: there is no cluster.
using Clusters = std::vector<Cluster*>;

// `checker`, `options` and `clusters` must outlive every connection.
net::HandlerFactory HttpHandlers(Checker& checker, const HttpOptions& options,
                                 const Clusters& clusters);
net::HandlerFactory RespHandlers(Checker& checker, const RespOptions& options,
                                 const Clusters& clusters);
net::HandlerFactory GrpcHandlers(Checker& checker, const GrpcOptions& options,
                                 const Clusters& clusters);

}  // namespace weir
