// Every trace holds over the wire too: the bytes a client sends, the bytes it is answered with, the
// clock of the trace. What is told in milliseconds is what the trace expects, rounded up.
//
// A trace becomes a namespace with one rule, counted by user; a change of its limit is new rules.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/http_session.h"
#include "frontend/resp_session.h"
#include "service/checker.h"
#include "trace/trace.h"

namespace weir::trace {
namespace {

using std::chrono::milliseconds;

const std::filesystem::path kFolder = std::filesystem::path(WEIR_SOURCE_DIR) / "tests";

constexpr Nanos FromMillis(std::int64_t count) {
  constexpr std::int64_t kMost = std::chrono::floor<milliseconds>(Nanos::max()).count();
  return count > kMost ? Nanos::max() : Nanos(milliseconds(count));
}

// As the wire says it.
void RoundUp(std::optional<Nanos>& time) {
  if (time && *time != Nanos::max()) {
    time = FromMillis(std::chrono::ceil<milliseconds>(*time).count());
  }
}

// --- a client of each protocol
// --------------------------------------------------------------------------------------

// The server's side of a trace: one rule, changed as the trace changes it.
class Subject {
 public:
  explicit Subject(const Limit& limit)
      : checker_(std::move(Ledger::Open({.max_keys = 100})).value(), {}), limit_(limit) {
    Publish({});
  }
  void SetLimit(const Limit& limit) {
    limit_ = limit;
    Publish({});
  }
  // How long a request may be made to wait is the rule's to say.
  void SetPatience(Nanos patience) {
    Publish({.what = patience > Nanos(0) ? rule::Exceed::kDelay : rule::Exceed::kReject,
             .time = patience});
  }
  Checker& checker() { return checker_; }

 private:
  void Publish(const rule::ExceedPolicy& exceed) {
    rule::Rule rule;
    rule.name = "trace";
    rule.keys = {{{.attribute = "user", .bits = {}}}};
    rule.allowance = limit_;
    rule.exceed = exceed;
    const rule::Problems problems = checker_.Publish({{"wire", {rule}}}, "test");
    EXPECT_TRUE(problems.empty()) << problems[0].ToString();
  }

  Checker checker_;
  Limit limit_;
};

class WireTarget : public Target {
 public:
  explicit WireTarget(const Limit& limit) : subject_(limit) {}

  Decision Take(Permits cost, Instant now) override { return Ask(CheckVerb(), cost, now); }
  Decision Peek(Permits cost, Instant now) override { return Ask(PeekVerb(), cost, now); }
  Reservation Reserve(Permits cost, Nanos patience, Instant now) override {
    subject_.SetPatience(patience);
    const Decision decision = Ask(CheckVerb(), cost, now);
    subject_.SetPatience(Nanos(0));
    return {.decision = decision};
  }
  Decision Charge(Permits cost, Instant now) override {
    Settle("charge", cost, now);
    return Peek(Permits{0}, now);
  }
  void Refund(Permits cost, Instant now) override { Settle("refund", cost, now); }
  Partial TakeUpTo(Permits /*cost*/, Instant /*now*/) override {
    ADD_FAILURE() << "no protocol has it";
    return {};
  }
  void SetLimit(const Limit& limit, Instant /*now*/) override { subject_.SetLimit(limit); }

 protected:
  virtual Decision Ask(std::string_view verb, Permits cost, Instant now) = 0;
  virtual void Settle(std::string_view verb, Permits cost, Instant now) = 0;
  [[nodiscard]] virtual std::string_view CheckVerb() const = 0;
  [[nodiscard]] virtual std::string_view PeekVerb() const = 0;
  Checker& checker() { return subject_.checker(); }

 private:
  Subject subject_;
};

class HttpTarget final : public WireTarget {
 public:
  using WireTarget::WireTarget;

 private:
  [[nodiscard]] std::string_view CheckVerb() const override { return "check"; }
  [[nodiscard]] std::string_view PeekVerb() const override { return "peek"; }

  std::string Post(std::string_view path, Permits cost, Instant now) {
    const std::string body = R"({"namespace":"wire","attributes":{"user":"7"},"cost":)" +
                             std::to_string(cost.count) + "}";
    std::string answer;
    session_.Serve("POST /v1/" + std::string(path) + " HTTP/1.1\r\nHost: weir\r\nContent-Length: " +
                       std::to_string(body.size()) + "\r\n\r\n" + body,
                   now, answer);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 ")) << answer;
    return answer.substr(answer.find("\r\n\r\n") + 4);
  }
  void Settle(std::string_view verb, Permits cost, Instant now) override {
    EXPECT_EQ(Post(verb, cost, now), "{}\n");
  }
  Decision Ask(std::string_view verb, Permits cost, Instant now) override {
    const std::string reply = Post(verb, cost, now);
    Decision decision;
    decision.remaining.count = Number(reply, "remaining").value();
    decision.wait = FromMillis(static_cast<std::int64_t>(Number(reply, "wait_ms").value()));
    decision.reset_after = Time(reply, "reset_after_ms");
    decision.retry_after = Time(reply, "retry_after_ms");
    if (!reply.starts_with(R"({"allowed":true)")) {
      decision.verdict = decision.retry_after == Nanos::max() ? Verdict::kNever : Verdict::kDeny;
    }
    if (reply.find(R"("grace":"soft")") != std::string::npos) decision.grace = Grace::kSoft;
    return decision;
  }
  // The first member of this name: those of the whole reply come before those of each limit. None
  // if it is null.
  static std::optional<std::uint64_t> Number(std::string_view json, const std::string& name) {
    const std::size_t at = json.find("\"" + name + "\":");
    EXPECT_NE(at, std::string_view::npos) << name << " in " << json;
    const std::string_view value = json.substr(at + name.size() + 3);
    if (value.starts_with("null")) return std::nullopt;
    std::uint64_t number = 0;
    EXPECT_EQ(std::from_chars(value.begin(), value.end(), number).ec, std::errc{}) << json;
    return number;
  }
  static Nanos Time(std::string_view json, const std::string& name) {
    const std::optional<std::uint64_t> millis = Number(json, name);
    return millis ? FromMillis(static_cast<std::int64_t>(*millis)) : Nanos::max();
  }

  HttpOptions options_;
  HttpSession session_{checker(), options_, std::nullopt, std::nullopt};
};

class RespTarget final : public WireTarget {
 public:
  using WireTarget::WireTarget;

 private:
  [[nodiscard]] std::string_view CheckVerb() const override { return "WEIR.CHECK"; }
  [[nodiscard]] std::string_view PeekVerb() const override { return "WEIR.PEEK"; }

  void Settle(std::string_view /*verb*/, Permits /*cost*/, Instant /*now*/) override {
    ADD_FAILURE() << "the Redis protocol has neither charge nor refund";
  }
  // *7, allowed, the rule, its limit, remaining, retry, reset and wait.
  Decision Ask(std::string_view verb, Permits cost, Instant now) override {
    std::string answer;
    session_.Serve(std::string(verb) + " wire COST " + std::to_string(cost.count) + " user 7\r\n",
                   now, answer);
    std::vector<std::int64_t> numbers;
    for (std::size_t at = 0; (at = answer.find("\r\n:", at)) != std::string::npos; at += 3) {
      std::int64_t number = 0;
      std::from_chars(answer.data() + at + 3, answer.data() + answer.size(), number);
      numbers.push_back(number);
    }
    EXPECT_EQ(numbers.size(), 6U) << answer;
    if (numbers.size() != 6) return {};
    const auto time = [](std::int64_t millis) {
      return millis < 0 ? Nanos::max() : FromMillis(millis);
    };
    Decision decision;
    decision.remaining.count = static_cast<std::uint64_t>(numbers[2]);
    decision.retry_after = time(numbers[3]);
    decision.reset_after = time(numbers[4]);
    decision.wait = time(numbers[5]);
    if (numbers[0] == 0) {
      decision.verdict = decision.retry_after == Nanos::max() ? Verdict::kNever : Verdict::kDeny;
    }
    return decision;
  }

  RespOptions options_;
  RespSession session_{checker(), options_};
};

template <typename WhichTarget>
class WireMaker final : public TargetMaker {
 public:
  std::unique_ptr<Target> Make(const Limit& limit) override {
    return std::make_unique<WhichTarget>(limit);
  }
};

// --- what of a trace a protocol can say
// --------------------------------------------------------------------------------------

struct Count {
  int ran = 0;
  int unsayable = 0;    // of a verb that the protocol lacks, and all that follow on it
  int begun_early = 0;  // under a limiter that was there before its first request, see below
  int soft_untold = 0;  // expected to be told `soft`, where the protocol has no word for it
  bool operator==(const Count&) const = default;
};

struct Protocol {
  std::vector<Verb> lacks;
  bool tells_soft;
};
const Protocol kHttp{.lacks = {Verb::kTakeUpTo}, .tells_soft = true};
const Protocol kResp{.lacks = {Verb::kTakeUpTo, Verb::kCharge, Verb::kRefund}, .tells_soft = false};

// Whether it makes a difference when a limiter was made. In a trace that is at 0; a key begins when
// it is first asked for.
bool CountsFromItsBeginning(const Limit& limit) {
  const auto& parts = limit.parts();
  return std::any_of(parts.begin(), parts.end(), [](const Algorithm& part) {
    const auto* bucket = std::get_if<TokenBucket>(&part);
    return std::holds_alternative<Pacer>(part) ||
           (bucket != nullptr && bucket->quota.initial() < bucket->quota.burst());
  });
}

// The steps up to the first that the protocol cannot say, of each limit.
Trace Sayable(const Trace& trace, const Protocol& protocol, Count& count) {
  Trace sayable;
  int* counter = &count.ran;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    Step step = trace[i];
    const auto& lacks = protocol.lacks;
    if (step.verb == Verb::kNewLimit) {
      const Step& first = trace[i + 1];
      const bool begins_early = CountsFromItsBeginning(*step.limit) &&
                                (first.at > Instant{} || first.verb == Verb::kSetLimit);
      counter = begins_early ? &count.begun_early : &count.ran;
    } else {
      if (std::find(lacks.begin(), lacks.end(), step.verb) != lacks.end()) {
        counter = &count.unsayable;
      }
      ++*counter;
    }
    if (counter != &count.ran) continue;
    RoundUp(step.expected.wait);
    RoundUp(step.expected.retry);
    RoundUp(step.expected.reset);
    if (!protocol.tells_soft && step.expected.grace) {
      step.expected.grace.reset();
      ++count.soft_untold;
    }
    sayable.push_back(std::move(step));
  }
  return sayable;
}

template <typename WhichTarget>
Count RunAll(const Protocol& protocol) {
  Count count;
  for (const char* folder : {"traces", "vectors"}) {
    for (const auto& entry : std::filesystem::directory_iterator(kFolder / folder)) {
      if (entry.path().extension() != ".trace") continue;
      const Result<Trace> trace = ReadFile(entry.path().string());
      EXPECT_TRUE(trace) << trace.error().message;
      WireMaker<WhichTarget> maker;
      for (const Mismatch& mismatch : Run(Sayable(*trace, protocol, count), maker)) {
        ADD_FAILURE_AT(entry.path().c_str(), mismatch.line)
            << "expected " << mismatch.expected << "\n     got " << mismatch.got;
      }
    }
  }
  return count;
}

std::ostream& operator<<(std::ostream& out, const Count& count) {
  return out << count.ran << " ran, " << count.unsayable << " unsayable, " << count.begun_early
             << " begun early, " << count.soft_untold << " untold";
}

TEST(WireTracesTest, HoldOverHttp) {
  EXPECT_EQ(RunAll<HttpTarget>(kHttp),
            (Count{.ran = 660, .unsayable = 17, .begun_early = 41, .soft_untold = 0}));
}

TEST(WireTracesTest, HoldOverTheRedisProtocol) {
  EXPECT_EQ(RunAll<RespTarget>(kResp),
            (Count{.ran = 631, .unsayable = 50, .begun_early = 37, .soft_untold = 2}));
}

}  // namespace
}  // namespace weir::trace
