// Where the rules in force come from: files, or a database. The retriever asks; the source answers
// with everything there is, or with what is wrong.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "rule/problem.h"
#include "rule/rule.h"

namespace weir::catalog {

// What a look at the source brought.
struct Retrieved {
  enum class Outcome : unsigned char {
    kUnchanged,
    kRules,  // `sets` are to be in force from now on
    kBad,    // what is there cannot be used: see `problems`. The last good rules stay in force
    kAway,   // the source cannot be reached: see `away`. The last good rules stay in force
  };
  Outcome outcome = Outcome::kUnchanged;
  std::vector<rule::RuleSet> sets;  // one per namespace
  std::string version;              // a revision, or a digest of the files: for people
  rule::Problems problems;
  std::string away;
};

// Thread safety: one thread at a time, but for Wake().
class RuleSource {
 public:
  virtual ~RuleSource() = default;
  // Looks whether anything changed since the last look that brought rules, and reads it if so.
  virtual Retrieved Look() = 0;
  // Waits until there may be something new, at most `timeout`.
  virtual void Wait(std::chrono::milliseconds timeout) = 0;
  // Ends a Wait() of another thread.
  virtual void Wake() = 0;
  // "the file rules.yaml", "the database rules.db": for people.
  [[nodiscard]] virtual std::string Describe() const = 0;
};

}  // namespace weir::catalog
