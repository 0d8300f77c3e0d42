#include <utility>

#include "base/text.h"
#include "trace/trace.h"
#include "weir/limiter.h"

namespace weir::trace {
namespace {

struct Outcome {
  Decision decision;
  Permits taken{};
};

Outcome Execute(const Step& step, Target& target) {
  switch (step.verb) {
    case Verb::kTake:
      return {target.Take(step.permits, step.at)};
    case Verb::kPeek:
      return {target.Peek(step.permits, step.at)};
    case Verb::kTakeUpTo: {
      const Partial partial = target.TakeUpTo(step.permits, step.at);
      return {partial.decision, partial.taken};
    }
    case Verb::kCharge:
      return {target.Charge(step.permits, step.at)};
    case Verb::kRefund:
      target.Refund(step.permits, step.at);
      return {target.Peek(Permits{0}, step.at)};
    case Verb::kReserve:
      return {target.Reserve(step.permits, step.patience, step.at).decision};
    case Verb::kSetLimit:
      target.SetLimit(*step.limit, step.at);
      return {};
    case Verb::kNewLimit:
      break;
  }
  return {};
}

bool Holds(const Expectation& expected, const Outcome& got) {
  const auto agrees = [](const auto& wanted, const auto& actual) {
    return !wanted || *wanted == actual;
  };
  const Decision& d = got.decision;
  return agrees(expected.verdict, d.verdict) && agrees(expected.wait, d.wait) &&
         agrees(expected.remaining, d.remaining) && agrees(expected.taken, got.taken) &&
         agrees(expected.retry, d.retry_after) && agrees(expected.reset, d.reset_after) &&
         agrees(expected.grace, d.grace);
}

std::string Describe(const Step& step, const Outcome& got) {
  const Decision& d = got.decision;
  std::string text;
  if (d.verdict == Verdict::kNever) text = "never";
  if (d.verdict == Verdict::kDeny) text = "deny";
  if (d.verdict == Verdict::kAllow) {
    text = d.wait > Nanos(0) ? "wait " + FormatDuration(d.wait) : "allow";
  }
  if (step.verb == Verb::kTakeUpTo) text += " taken " + std::to_string(got.taken.count);
  text += " remaining " + std::to_string(d.remaining.count);
  if (d.verdict == Verdict::kDeny) text += " retry " + FormatDuration(d.retry_after);
  text += " reset " + FormatDuration(d.reset_after);
  if (d.grace == Grace::kSoft) text += " soft";
  return text;
}

class LimiterTarget : public Target {
 public:
  explicit LimiterTarget(const Limit& limit) : limiter_(limit, {}, Instant{}) {}

  Decision Take(Permits cost, Instant now) override { return limiter_.Take(cost, now); }
  Decision Peek(Permits cost, Instant now) override { return limiter_.Peek(cost, now); }
  Partial TakeUpTo(Permits cost, Instant now) override { return limiter_.TakeUpTo(cost, now); }
  Decision Charge(Permits cost, Instant now) override { return limiter_.Charge(cost, now); }
  void Refund(Permits cost, Instant now) override { limiter_.Refund(cost, now); }
  Reservation Reserve(Permits cost, Nanos patience, Instant now) override {
    return limiter_.Reserve(cost, patience, now);
  }
  void SetLimit(const Limit& limit, Instant now) override { limiter_.SetLimit(limit, now); }

 private:
  Limiter limiter_;
};

}  // namespace

std::unique_ptr<Target> LimiterMaker::Make(const Limit& limit) {
  return std::make_unique<LimiterTarget>(limit);
}

std::vector<Mismatch> Run(const Trace& trace, TargetMaker& maker) {
  std::vector<Mismatch> mismatches;
  std::unique_ptr<Target> target;
  for (const Step& step : trace) {
    if (step.verb == Verb::kNewLimit) {
      target = maker.Make(*step.limit);
      continue;
    }
    const Outcome got = Execute(step, *target);
    if (!Holds(step.expected, got)) {
      mismatches.push_back({step.line, step.expected.text, Describe(step, got)});
    }
  }
  return mismatches;
}

}  // namespace weir::trace
