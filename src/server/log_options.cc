#include "server/log_options.h"

#include <CLI/CLI.hpp>
#include <array>
#include <utility>

namespace weir {
namespace {

constexpr std::array<std::pair<std::string_view, LogLevel>, 5> kLevels = {
    {{"debug", LogLevel::kDebug},
     {"info", LogLevel::kInfo},
     {"warning", LogLevel::kWarning},
     {"error", LogLevel::kError},
     {"off", LogLevel::kOff}}};

}  // namespace

void AddLogOptions(CLI::App& command, LogOptions& options) {
  const std::string group = "Log";
  command
      .add_option("--log-format", options.format,
                  "Lines on the standard error: text, or json for machines")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--log-level", options.level,
                  "The least that is written: debug, info, warning, error, off")
      ->capture_default_str()
      ->group(group);
}

Result<LogSettings> Read(const LogOptions& options) {
  LogSettings settings;
  if (options.format == "json") {
    settings.format = LogFormat::kJson;
  } else if (options.format != "text") {
    return Error{"--log-format: there is text and json, got '" + options.format + "'"};
  }
  for (const auto& level : kLevels) {
    if (level.first != options.level) continue;
    settings.level = level.second;
    return settings;
  }
  return Error{"--log-level: there is debug, info, warning, error and off, got '" + options.level +
               "'"};
}

}  // namespace weir
