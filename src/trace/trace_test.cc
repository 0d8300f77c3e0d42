#include "trace/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <ostream>
#include <string>

namespace weir::trace {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<Mismatch> MismatchesOf(const std::string& text) {
  LimiterMaker maker;
  return trace::Run(Parse(text, "some.trace").value(), maker);
}

TEST(TraceTest, ReadsTheExampleOfTheNotation) {
  const Result<Trace> trace = Parse(
      "# comments and blank lines are skipped\n"
      "\n"
      "limit token_bucket 10/1s burst 3 initial 3\n"
      "0ms     take 2    => allow remaining 1   # to the end of the line\n"
      "900ms   take 3    => allow remaining 0 reset 300ms\r\n"
      "1s      reserve 2 timeout 5s => wait 100ms\n"
      "1100ms  charge 5\n"
      "2s      limit 20/1s burst 6",
      "some.trace");
  ASSERT_TRUE(trace) << trace.error().message;
  ASSERT_EQ(trace->size(), 6U);
  EXPECT_EQ((*trace)[0].verb, Verb::kNewLimit);
  EXPECT_EQ((*trace)[0].line, 3);
  EXPECT_EQ((*trace)[1].verb, Verb::kTake);
  EXPECT_EQ((*trace)[1].permits, Permits{2});
  EXPECT_EQ((*trace)[1].expected.verdict, Verdict::kAllow);
  EXPECT_EQ((*trace)[1].expected.remaining, Permits{1});
  EXPECT_EQ((*trace)[1].expected.retry, std::nullopt);
  EXPECT_EQ((*trace)[2].at, Instant(900ms));
  EXPECT_EQ((*trace)[2].expected.reset, 300ms);
  EXPECT_EQ((*trace)[3].patience, 5s);
  EXPECT_EQ((*trace)[3].expected.wait, 100ms);
  EXPECT_EQ((*trace)[4].verb, Verb::kCharge);
  EXPECT_EQ((*trace)[5].verb, Verb::kSetLimit);
  EXPECT_EQ((*trace)[5].limit->ToString(), "token_bucket 20/1s burst 6");
}

TEST(TraceTest, WithoutANumberTheCostIsOne) {
  const Trace trace = Parse("limit pacer 1/1s\n0 take\n0 take => allow\n", "t").value();
  EXPECT_EQ(trace[1].permits, Permits{1});
  EXPECT_EQ(trace[2].permits, Permits{1});
}

struct Wrong {
  const char* text;
  const char* starts_with;
  const char* says;
};
void PrintTo(const Wrong& wrong, std::ostream* out) { *out << '"' << wrong.text << '"'; }

class WrongTrace : public testing::TestWithParam<Wrong> {};

TEST_P(WrongTrace, IsAnErrorWithFileAndLine) {
  const Result<Trace> trace = Parse(GetParam().text, "some.trace");
  ASSERT_FALSE(trace);
  EXPECT_THAT(trace.error().message, StartsWith(GetParam().starts_with));
  EXPECT_THAT(trace.error().message, HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongTrace,
    testing::Values(
        Wrong{"0ms take 1", "some.trace:1: ", "there is no limit yet"},
        Wrong{"0ms limit 10/1s", "some.trace:1: ", "there is no limit yet"},
        Wrong{"\n# x\nlimit token_bucket 0/1s", "some.trace:3: ", "at least 1 permit"},
        Wrong{"limit", "some.trace:1: ", "expected a limit such as"},
        Wrong{"limit 10/1s", "some.trace:1: ", "unknown algorithm '10/1s'"},
        Wrong{"limit pacer 1/1s\n0ms", "some.trace:2: ", "unknown verb ''"},
        Wrong{"limit pacer 1/1s\n0ms grab 1", "some.trace:2: ", "unknown verb 'grab'"},
        Wrong{"limit pacer 1/1s\nsoon take 1", "some.trace:2: ", "time: expected a duration"},
        Wrong{"limit pacer 1/1s\n-1s take 1", "some.trace:2: ", "time: expected a duration"},
        Wrong{"limit pacer 1/1s\n0s take -1", "some.trace:2: ", "take: expected a whole number"},
        Wrong{"limit pacer 1/1s\n0s take 1 2", "some.trace:2: ", "expected => and what must hold"},
        Wrong{"limit pacer 1/1s\n0s take 1 timeout 1s", "some.trace:2: ", "got 'timeout'"},
        Wrong{"limit pacer 1/1s\n0s reserve 1 timeout", "some.trace:2: ", "timeout: "},
        Wrong{"limit pacer 1/1s\n0s take 1 => maybe", "some.trace:2: ", "expectation 'maybe'"},
        Wrong{"limit pacer 1/1s\n0s take 1 => allow allow", "some.trace:2: ", "'allow'"},
        Wrong{"limit pacer 1/1s\n0s take 1 => remaining", "some.trace:2: ", "remaining: "},
        Wrong{"limit pacer 1/1s\n0s take 1 => retry 5", "some.trace:2: ", "retry: "},
        Wrong{"limit pacer 1/1s\n0s limit pacer 1/0s", "some.trace:2: ", "longer than 0"}));

TEST(TraceTest, AFileThatIsNotThereIsAnErrorThatNamesIt) {
  const Result<Trace> trace = ReadFile("/nowhere/some.trace");
  ASSERT_FALSE(trace);
  EXPECT_THAT(trace.error().message, StartsWith("/nowhere/some.trace: cannot be read: "));
  EXPECT_THAT(trace.error().message, HasSubstr("No such file"));
  EXPECT_THAT(ReadFile("/tmp").error().message, HasSubstr("is a directory"));
}

TEST(TraceTest, WhatHoldsIsNoMismatch) {
  EXPECT_THAT(MismatchesOf("limit token_bucket 10/1s burst 3\n"
                           "0ms take 2 => allow remaining 1\n"
                           "0ms take 2 => deny remaining 1 retry 100ms\n"
                           "0ms take 4 => never\n"
                           "0ms take_up_to 4 => taken 1\n"
                           "0ms refund 3 => remaining 3 reset 0s\n"),
              testing::IsEmpty());
}

TEST(TraceTest, AMismatchSaysTheLineWhatWasExpectedAndWhatCame) {
  const auto mismatches = MismatchesOf(
      "limit token_bucket 10/1s burst 3\n"
      "0ms take 2 => deny   remaining 1  # oops\n"
      "0ms take 2 => deny remaining 1 retry 99ms\n");
  ASSERT_EQ(mismatches.size(), 2U);
  EXPECT_EQ(mismatches[0].line, 2);
  EXPECT_EQ(mismatches[0].expected, "deny remaining 1");
  EXPECT_EQ(mismatches[0].got, "allow remaining 1 reset 200ms");
  EXPECT_EQ(mismatches[1].line, 3);
  EXPECT_EQ(mismatches[1].got, "deny remaining 1 retry 100ms reset 200ms");
}

TEST(TraceTest, EveryPartOfAnExpectationCanFail) {
  const std::string start = "limit leaky_bucket 10/1s queue 1\n0s take 1\n";
  for (const char* wrong : {"allow", "deny", "never", "wait 99ms", "wait 100ms remaining 1",
                            "reset 1s", "taken 1", "retry 1ns", "soft"}) {
    EXPECT_EQ(MismatchesOf(start + "0s take 1 => " + wrong).size(), 1U) << wrong;
  }
  EXPECT_THAT(MismatchesOf(start + "0s take 1 => wait 100ms remaining 0 reset 200ms"),
              testing::IsEmpty());
}

TEST(TraceTest, ALimitInARowOfItsOwnStartsAfresh) {
  EXPECT_THAT(MismatchesOf("limit token_bucket 1/1s\n"
                           "5s take 1 => allow\n"
                           "5s take 1 => deny\n"
                           "limit token_bucket 1/1s\n"
                           "0s take 1 => allow\n"
                           "0s limit 1/2s\n"
                           "0s take 1 => deny retry 2s\n"),
              testing::IsEmpty());
}

}  // namespace
}  // namespace weir::trace
