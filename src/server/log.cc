#include "server/log.h"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/ostream_sink.h>

#include <algorithm>

#include "rule/json.h"
#include "rule/utf8.h"

namespace weir {
namespace {

// Twenty at once, as many as one look at a broken folder of rules may bring; then one in ten
// seconds, which is enough to see that it goes on.
constexpr Quota kPerKind = Quota::PerMinute(6).Burst(20);

struct EventRow {
  std::string_view name;
  LogLevel level;
};
constexpr std::array<EventRow, kEvents> kRows = {{
    {"started", LogLevel::kInfo},
    {"note", LogLevel::kWarning},
    {"rules_replaced", LogLevel::kInfo},
    {"rules_refused", LogLevel::kError},
    {"source_lost", LogLevel::kError},
    {"source_found", LogLevel::kInfo},
    {"cluster_lost", LogLevel::kError},
    {"cluster_found", LogLevel::kInfo},
    {"certificate_replaced", LogLevel::kInfo},
    {"certificate_refused", LogLevel::kError},
    {"reloaded", LogLevel::kInfo},
    {"reload_failed", LogLevel::kError},
    {"needs_restart", LogLevel::kWarning},
    {"turning_away", LogLevel::kInfo},
    {"stopping", LogLevel::kInfo},
    {"stopped", LogLevel::kInfo},
}};

spdlog::level::level_enum ForSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
    case LogLevel::kOff:
      break;
  }
  return spdlog::level::off;
}

std::string Quoted(std::string_view text) { return rule::JsonString(rule::Valid(text)); }

bool IsControl(char letter) { return static_cast<unsigned char>(letter) < ' ' || letter == '\x7f'; }

// Whether a value needs no quotes to be told from what follows.
bool IsWord(std::string_view text) {
  const auto is_plain = [](char letter) {
    return letter > ' ' && letter < '\x7f' && letter != '"' && letter != '=' && letter != '\\';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), is_plain);
}

// For people, so without more quotes than it has; but on one line, whatever it holds.
std::string OneLine(std::string_view text) {
  std::string line;
  for (const char letter : rule::Valid(text)) {
    if (!IsControl(letter)) {
      line += letter;
    } else {
      const std::string quoted = rule::JsonString(std::string_view(&letter, 1));
      line += quoted.substr(1, quoted.size() - 2);
    }
  }
  return line;
}

// rules_replaced: newer rules are in force source="the database weir.db" version=7
std::string Text(Event event, std::string_view message, const std::vector<LogField>& fields) {
  std::string text = std::string(NameOf(event)) + ": " + OneLine(message);
  for (const LogField& field : fields) {
    text += " " + std::string(field.name) + "=";
    text += IsWord(field.value) ? field.value : Quoted(field.value);
  }
  return text;
}

std::string Json(Event event, std::string_view message, const std::vector<LogField>& fields) {
  std::string text =
      "\"event\":\"" + std::string(NameOf(event)) + "\",\"message\":" + Quoted(message);
  for (const LogField& field : fields) {
    text += "," + Quoted(field.name) + ":" + Quoted(field.value);
  }
  return text;
}

}  // namespace

std::string_view NameOf(Event event) { return kRows[static_cast<std::size_t>(event)].name; }
LogLevel LevelOf(Event event) { return kRows[static_cast<std::size_t>(event)].level; }

// The limiter's time begins with the first line, whichever clock that is from.
Log::Kind::Kind() : limiter(kPerKind, {}, Instant{}) {}

Log::Log(std::ostream& out, LogFormat format, LogLevel least) : format_(format) {
  auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(out, /*force_flush=*/true);
  logger_ = std::make_unique<spdlog::logger>("weir", std::move(sink));
  const bool is_json = format == LogFormat::kJson;
  logger_->set_formatter(std::make_unique<spdlog::pattern_formatter>(
      is_json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})"
              : "%Y-%m-%dT%H:%M:%S.%eZ %-7l %v",
      spdlog::pattern_time_type::utc, "\n"));
  SetLevel(least);
}

Log::~Log() = default;

void Log::SetLevel(LogLevel least) { logger_->set_level(ForSpdlog(least)); }

void Log::Write(Event event, std::string_view message, const std::vector<LogField>& fields,
                Time now) {
  if (!logger_->should_log(ForSpdlog(LevelOf(event)))) return;
  Kind& kind = kinds_[static_cast<std::size_t>(event)];
  if (!kind.limiter.Take(Permits{1}, Instant(now.time_since_epoch()))) {
    kind.suppressed.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  const std::uint64_t suppressed = kind.suppressed.exchange(0, std::memory_order_relaxed);
  if (suppressed == 0) return Put(event, message, fields, now);
  std::vector<LogField> more = fields;
  more.push_back({"suppressed", std::to_string(suppressed)});
  Put(event, message, more, now);
}

void Log::TellSuppressed(Time now) {
  for (std::size_t i = 0; i < kEvents; ++i) {
    const std::uint64_t suppressed = kinds_[i].suppressed.exchange(0, std::memory_order_relaxed);
    if (suppressed == 0) continue;
    Put(static_cast<Event>(i), "lines like this were left out",
        {{"suppressed", std::to_string(suppressed)}}, now);
  }
}

void Log::Put(Event event, std::string_view message, const std::vector<LogField>& fields,
              Time now) {
  logger_->log(
      now, spdlog::source_loc{}, ForSpdlog(LevelOf(event)),
      format_ == LogFormat::kJson ? Json(event, message, fields) : Text(event, message, fields));
}

}  // namespace weir
