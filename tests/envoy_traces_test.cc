// Traces hold over ShouldRateLimit too, as far as its messages can put them: the bytes of a
// request, the bytes of its answer, the clock of the trace.
//
// A trace becomes a domain with one rule; a change of its limit is new rules. Of the verbs,
//
//   take N         is a descriptor with N hits
//   refund N       is one with N hits that are negative
//   peek 0         is one with 0 hits
//   limit ...      is a change of the rules
//   peek N         cannot be asked for: hits are taken or given back. It changes nothing: left out
//   charge, take_up_to, reserve, acquire      cannot be asked for, and change what comes after
//   them:
//                  the rest of that limit's rows is left out
//
// and of an answer, a status tells whether it is over (`deny` and `never` alike), what remains, and
// one duration in whole seconds: `retry` if it is over, `reset` if it is not. `wait` and `soft` are
// not told. Limits with `count_denied` are counted as envoyproxy/ratelimit does, which is not what
// these traces say: src/service/descriptor_check_test.cc has those.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "envoy/service/ratelimit/v3/rls.pb.h"
#include "frontend/rate_limit_fields.h"
#include "frontend/should_rate_limit.h"
#include "service/checker.h"
#include "trace/trace.h"

namespace weir::trace {
namespace {

using envoy::service::ratelimit::v3::RateLimitRequest;
using envoy::service::ratelimit::v3::RateLimitResponse;

const std::filesystem::path kFolder = std::filesystem::path(WEIR_SOURCE_DIR) / "tests" / "traces";

bool CountsDenied(const Limit& limit) {
  return std::any_of(limit.parts().begin(), limit.parts().end(), [](const Algorithm& part) {
    const auto* window = std::get_if<FixedWindow>(&part);
    return window != nullptr && window->denied == Denied::kCounted;
  });
}

// The server's side of a trace.
class Service {
 public:
  explicit Service(const Limit& limit)
      : checker_(std::move(Ledger::Open({.max_keys = 100})).value(), {}),
        method_(checker_, options_) {
    SetLimit(limit);
  }

  void SetLimit(const Limit& limit) {
    rule::Rule rule;
    rule.name = "trace";
    rule.allowance = limit;
    rule.descriptor.emplace();
    rule.descriptor->entries.push_back({.key = "user", .value = {}});
    const rule::Problems problems = checker_.Publish({{"shop", {rule}}}, "test");
    ASSERT_TRUE(problems.empty()) << problems[0].ToString();
  }

  RateLimitResponse Ask(Permits hits, HitsAre hits_are, Instant now) {
    RateLimitRequest request;
    request.set_domain("shop");
    auto* descriptor = request.add_descriptors();
    descriptor->add_entries()->set_key("user");
    descriptor->mutable_hits_addend()->set_value(hits.count);
    descriptor->set_is_negative_hits(hits_are == HitsAre::kGivenBack);
    std::string bytes;
    EXPECT_TRUE(method_.Answer(request.SerializeAsString(), now, bytes).ok());
    RateLimitResponse response;
    EXPECT_TRUE(response.ParseFromString(bytes));
    EXPECT_EQ(response.statuses_size(), 1);
    EXPECT_EQ(response.overall_code(), response.statuses(0).code());
    return response;
  }

 private:
  Checker checker_;
  RateLimitOptions options_;
  RateLimitMethod method_;
};

void ExpectTold(const Step& step, const RateLimitResponse::DescriptorStatus& status) {
  const Expectation& expected = step.expected;
  const bool over = status.code() == RateLimitResponse::OVER_LIMIT;
  if (expected.verdict) {
    EXPECT_EQ(over, *expected.verdict != Verdict::kAllow);
  }
  if (expected.remaining) {
    EXPECT_EQ(status.limit_remaining(),
              std::min<std::uint64_t>(expected.remaining->count, 4'294'967'295));
  }
  if (expected.verdict == Verdict::kNever) {
    EXPECT_FALSE(status.has_duration_until_reset());
  }
  const std::optional<Nanos> until = over ? expected.retry : expected.reset;
  if (until && *until != Nanos::max()) {
    EXPECT_EQ(status.duration_until_reset().seconds(), SecondsUp(*until));
  }
}

struct Rows {
  int asked = 0;
  int left_out = 0;
};

Rows RunOverShouldRateLimit(const std::string& file) {
  const std::string path = (kFolder / file).string();
  const Result<Trace> trace = ReadFile(path);
  EXPECT_TRUE(trace.ok());
  Rows rows;
  std::unique_ptr<Service> service;  // null: what comes cannot be compared
  for (const Step& step : *trace) {
    const testing::ScopedTrace where(path.c_str(), step.line, step.expected.text);
    if (step.verb == Verb::kNewLimit) {
      service = CountsDenied(*step.limit) ? nullptr : std::make_unique<Service>(*step.limit);
      continue;
    }
    switch (step.verb) {
      case Verb::kSetLimit:
        if (service != nullptr && CountsDenied(*step.limit)) service.reset();
        if (service != nullptr) service->SetLimit(*step.limit);
        continue;
      case Verb::kTakeUpTo:
      case Verb::kCharge:
      case Verb::kReserve:
        service.reset();
        break;
      default:
        break;
    }
    const bool is_peek = step.verb == Verb::kPeek;
    if (service == nullptr || (is_peek && step.permits.count > 0)) {
      ++rows.left_out;
      continue;
    }
    ++rows.asked;
    const HitsAre hits_are = step.verb == Verb::kRefund ? HitsAre::kGivenBack : HitsAre::kTaken;
    ExpectTold(step, service->Ask(step.permits, hits_are, step.at).statuses(0));
  }
  return rows;
}

struct Expected {
  const char* file;
  int asked;
  int left_out;
};

// So that no row is left out unnoticed. (A pacer is only ever asked to `acquire`.)
constexpr std::array<Expected, 7> kTraces = {{{"token_bucket.trace", 29, 14},
                                              {"leaky_bucket.trace", 25, 8},
                                              {"fixed_window.trace", 23, 14},
                                              {"sliding.trace", 35, 7},
                                              {"pacer.trace", 0, 25},
                                              {"several.trace", 18, 1},
                                              {"corners.trace", 57, 38}}};

TEST(EnvoyTracesTest, TracesHoldOverShouldRateLimit) {
  for (const Expected& expected : kTraces) {
    const Rows rows = RunOverShouldRateLimit(expected.file);
    EXPECT_EQ(rows.asked, expected.asked) << expected.file;
    EXPECT_EQ(rows.left_out, expected.left_out) << expected.file;
  }
}

}  // namespace
}  // namespace weir::trace
