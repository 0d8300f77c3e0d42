#include <algorithm>
#include <ostream>

#include "server/commands.h"
#include "server/streams.h"
#include "trace/trace.h"

namespace weir {

int RunTraces(const std::vector<std::string>& files, std::ostream& out, std::ostream& err) {
  int code = kDone;
  for (const std::string& file : files) {
    const Result<trace::Trace> trace = trace::ReadFile(file);
    if (!trace) {
      err << trace.error().message << "\n";
      code = kUnreadable;
      continue;
    }
    trace::LimiterMaker limiters;
    for (const trace::Mismatch& mismatch : trace::Run(*trace, limiters)) {
      out << file << ":" << mismatch.line << ": expected " << mismatch.expected << ", got "
          << mismatch.got << "\n";
      code = std::max<int>(code, kWrong);
    }
  }
  return code;
}

}  // namespace weir
