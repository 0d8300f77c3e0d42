// Traces: the text form that states what a limit does. docs/traces.md
//
//   limit token_bucket 10/1s burst 3
//   0ms    take 2  => allow remaining 1
//   0ms    take 2  => deny remaining 1 retry 100ms
//
// The same traces are run against the library and against everything that speaks for it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "weir/decision.h"
#include "weir/limit.h"
#include "weir/reservation.h"
#include "weir/result.h"

namespace weir::trace {

enum class Verb { kNewLimit, kSetLimit, kTake, kPeek, kTakeUpTo, kCharge, kRefund, kReserve };

// What must hold after a step; what is left out may be anything.
struct Expectation {
  std::optional<Verdict> verdict;
  std::optional<Nanos> wait;  // "allow" is a wait of nothing
  std::optional<Permits> remaining;
  std::optional<Permits> taken;
  std::optional<Nanos> retry;
  std::optional<Nanos> reset;
  std::optional<Grace> grace;
  std::string text;  // as it was written
};

struct Step {
  int line = 0;
  Instant at{};
  Verb verb = Verb::kTake;
  Permits permits{};
  Nanos patience = Nanos::max();
  std::optional<Limit> limit;
  Expectation expected;
};

using Trace = std::vector<Step>;

// The error starts with `name`:line.
Result<Trace> Parse(std::string_view text, const std::string& name);
Result<Trace> ReadFile(const std::string& path);

// What a trace runs against: one key of one limiter, wherever that lives.
class Target {
 public:
  virtual ~Target() = default;
  virtual Decision Take(Permits cost, Instant now) = 0;
  virtual Decision Peek(Permits cost, Instant now) = 0;
  virtual Partial TakeUpTo(Permits cost, Instant now) = 0;
  virtual Decision Charge(Permits cost, Instant now) = 0;
  virtual void Refund(Permits cost, Instant now) = 0;
  virtual Reservation Reserve(Permits cost, Nanos patience, Instant now) = 0;
  virtual void SetLimit(const Limit& limit, Instant now) = 0;
};

// Makes the target of each "limit" row.
class TargetMaker {
 public:
  virtual ~TargetMaker() = default;
  virtual std::unique_ptr<Target> Make(const Limit& limit) = 0;
};

struct Mismatch {
  int line;
  std::string expected;
  std::string got;
};

std::vector<Mismatch> Run(const Trace& trace, TargetMaker& maker);

// weir::Limiter as a target.
class LimiterMaker : public TargetMaker {
 public:
  std::unique_ptr<Target> Make(const Limit& limit) override;
};

}  // namespace weir::trace
