// What `weir serve` is told about its log.
#pragma once

#include <string>

#include "server/log.h"
#include "weir/result.h"

namespace CLI {  // NOLINT(readability-identifier-naming): not ours
class App;
}

namespace weir {

// As it is written on the command line.
struct LogOptions {
  std::string format = "text";
  std::string level = "info";
};

void AddLogOptions(CLI::App& command, LogOptions& options);

struct LogSettings {
  LogFormat format = LogFormat::kText;
  LogLevel level = LogLevel::kInfo;
};
// The error names the option.
Result<LogSettings> Read(const LogOptions& options);

}  // namespace weir
