// Connections that this side opens, without waiting for them.
#pragma once

#include "base/descriptor.h"
#include "net/endpoint.h"
#include "weir/result.h"

namespace weir::net {

// Begins to connect. The socket becomes writable when that is done, well or badly: DialProblem()
// says which. The error is a reason without the address.
Result<Descriptor> Dial(const SocketAddress& address);

// 0, or the error number for which the connection did not come about.
int DialProblem(const Descriptor& socket);

}  // namespace weir::net
