#include "catalog/retriever_status.h"

#include <array>
#include <cstddef>
#include <ctime>

namespace weir::catalog {
namespace {

std::string TimeText(RetrieverStatus::Time time) {
  const std::time_t seconds =
      std::chrono::system_clock::to_time_t(std::chrono::floor<std::chrono::seconds>(time));
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 32> text;
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), size};
}

}  // namespace

RetrieverStatus::State RetrieverStatus::state() const {
  if (is_away) return State::kAway;
  if (is_bad) return State::kBad;
  return version.empty() ? State::kNoRules : State::kInForce;
}

void RetrieverStatus::Note(const Retrieved& found, const rule::Problems& refused, Time now) {
  ++looks;
  last_look = now;
  if (found.outcome == Retrieved::Outcome::kAway) {
    if (!is_away) away_since = now;
    is_away = true;
    away = found.away;
    ++failures;
    return;
  }
  is_away = false;
  failures = 0;
  switch (found.outcome) {
    case Retrieved::Outcome::kUnchanged:
    case Retrieved::Outcome::kAway:
      return;  // what was bad is bad still
    case Retrieved::Outcome::kBad:
      return NoteBad(found.problems, found.version, now);
    case Retrieved::Outcome::kRules:
      break;
  }
  if (!refused.empty()) return NoteBad(refused, found.version, now);
  is_bad = false;
  version = found.version;
  since = now;
  ++published;
}

void RetrieverStatus::NoteBad(const rule::Problems& found, const std::string& its_version,
                              Time now) {
  is_bad = true;
  bad_since = now;
  problems = found;
  bad_version = its_version;
}

std::string RetrieverStatus::ToString() const {
  std::string text = source + ": ";
  if (version.empty()) {
    text += "no rules are in force";
  } else {
    text += "version " + version + " is in force since " + TimeText(*since);
  }
  if (is_away) {
    text += "; away since " + TimeText(*away_since) + ": " + away;
  }
  if (is_bad) {
    text += "; what is there since " + TimeText(*bad_since) + " cannot be used:";
    for (const rule::Problem& problem : problems) text += "\n  " + problem.ToString();
  }
  return text;
}

}  // namespace weir::catalog
