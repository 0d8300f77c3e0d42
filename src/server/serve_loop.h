// From the start of a server to its end, and what signals make of it meanwhile: SIGTERM and SIGINT
// end it, SIGHUP has it read everything again (unless it comes from a terminal that was closed).
#pragma once

#include <functional>

#include "server/serve_command.h"
#include "server/streams.h"

namespace weir {

// Says whether a server could start, and what it would serve. Binds nothing and writes nothing.
int CheckServer(const ServeTold& told, Streams io);

// Serves until it is told to end. `read_again` says what the server would be told if it started
// now.
int Serve(const ServeTold& told, const std::function<Result<ServeTold>()>& read_again, Streams io);

}  // namespace weir
