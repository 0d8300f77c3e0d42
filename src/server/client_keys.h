// The commands about one client's keys at a running server: what it has left, and to change that.
#pragma once

#include "server/client_commands.h"
#include "server/streams.h"

namespace weir {

// Each returns the exit code, as those of client_commands.h.
int LookAtKey(const ClientQuestion& question, Streams io);
int ResetKey(const ClientQuestion& question, Streams io);
int OverrideKey(const ClientQuestion& question, Streams io);
int RestoreKey(const ClientQuestion& question, Streams io);

}  // namespace weir
