// Where a command reads and writes, and what it returns: so that tests run commands in-process.
#pragma once

#include <iosfwd>

namespace weir {

struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
};

// Of all commands; docs/commands.md.
enum ExitCode : int {
  kDone = 0,
  kWrong = 1,       // what was given is not right: a rule, a trace
  kUnreadable = 2,  // cannot be read or written, or the command line makes no sense
  kConflict = 3,    // what is kept is not what the edit was made from
  kNotFound = 4,    // there is no such rule, or no such namespace
  kDatabase = 5,    // the database failed
  // Of commands that ask a server (server/client_commands.h), for which nothing can conflict.
  kNoAnswer = 3,  // it cannot be reached, or does not let us
};

}  // namespace weir
