// What the server says while it runs: a line per event, as text for people or as JSON for machines.
//
// Events are a closed set, so that whoever searches for one, or wakes somebody because of it, can
// rely on its name (docs/operating.md lists them). Each kind has a limiter of its own, one of ours:
// what goes wrong a thousand times a second fills no disk and hides nothing else. How many lines
// were left out is told with the next of their kind, or at the end.
//
// Whatever a value holds, it stays on its line: control characters are escaped.
//
// Thread safety: all calls may come from any number of threads.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weir/limiter.h"

namespace spdlog {  // NOLINT(readability-identifier-naming): not ours
class logger;
}

namespace weir {

enum class Event : std::uint8_t {
  kStarted,
  kNote,           // on what it was told: taken, but not all of it is of use
  kRulesReplaced,  // newer rules are in force
  kRulesRefused,   // newer ones are bad: the last good ones stay
  kSourceLost,     // where rules come from cannot be reached: the same
  kSourceFound,
  kClusterLost,  // a loop gets no answers from Redis: on_error decides
  kClusterFound,
  kCertificateReplaced,  // another is shown to clients that connect
  kCertificateRefused,   // another is bad: the one before stays
  kReloaded,
  kReloadFailed,  // some of it, or all; what cannot be read has changed nothing
  kNeedsRestart,  // what was changed and cannot change while it runs
  kTurningAway,   // it was told to end, and waits for gateways to turn to others
  kStopping,
  kStopped,
};
inline constexpr std::size_t kEvents = static_cast<std::size_t>(Event::kStopped) + 1;

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError, kOff };
enum class LogFormat : std::uint8_t { kText, kJson };

// "rules_replaced"
std::string_view NameOf(Event event);
LogLevel LevelOf(Event event);

struct LogField {
  std::string_view name;  // a word
  std::string value;
};

class Log {
 public:
  using Time = std::chrono::system_clock::time_point;

  // `out` must outlive it.
  Log(std::ostream& out, LogFormat format, LogLevel least);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  void Write(Event event, std::string_view message, const std::vector<LogField>& fields = {},
             Time now = std::chrono::system_clock::now());

  // Lines below are not written.
  void SetLevel(LogLevel least);

  // Says of each kind how many were left out and not told yet.
  void TellSuppressed(Time now = std::chrono::system_clock::now());

 private:
  void Put(Event event, std::string_view message, const std::vector<LogField>& fields, Time now);

  // Of one kind of event.
  struct Kind {
    Limiter limiter;
    std::atomic<std::uint64_t> suppressed{0};
    Kind();
  };

  const LogFormat format_;
  std::unique_ptr<spdlog::logger> logger_;
  std::array<Kind, kEvents> kinds_;
};

}  // namespace weir
