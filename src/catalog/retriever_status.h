// How it stands with the rules: which are in force, and what keeps newer ones from it. A plain
// value, told what came of each look, so that every turn of it can be tested without threads and
// time.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "catalog/rule_source.h"
#include "rule/problem.h"

namespace weir::catalog {

struct RetrieverStatus {
  // The wall clock's, for people.
  using Time = std::chrono::sys_time<std::chrono::milliseconds>;

  enum class State : unsigned char {
    kNoRules,  // none were ever read
    kInForce,  // what the source holds is in force
    kBad,      // what the source holds cannot be used: see `problems`
    kAway,     // the source cannot be reached: see `away`
  };

  [[nodiscard]] State state() const;

  std::string source;           // where the rules come from
  std::string version;          // of the rules in force; empty: there are none
  std::optional<Time> since;    // in force since
  std::uint64_t published = 0;  // how often rules came into force
  std::optional<Time> last_look;
  std::uint64_t looks = 0;

  bool is_bad = false;
  bool is_away = false;
  int failures = 0;  // looks in a row that did not reach the source

  // The last trouble, which stays to be read when it is over; with the time it began.
  rule::Problems problems;
  std::string bad_version;
  std::optional<Time> bad_since;
  std::string away;
  std::optional<Time> away_since;

  // Takes note of a look. `refused` is what the limiter itself said against new rules; empty if it
  // took them.
  void Note(const Retrieved& found, const rule::Problems& refused, Time now);

  // "the file rules.yaml: version 4f1c… is in force since …; ...", over several lines if there are
  // problems.
  [[nodiscard]] std::string ToString() const;

 private:
  void NoteBad(const rule::Problems& found, const std::string& its_version, Time now);
};

}  // namespace weir::catalog
