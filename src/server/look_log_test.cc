#include "server/look_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace weir {
namespace {

using catalog::Retrieved;
using catalog::RetrieverStatus;
using ::testing::AllOf;
using ::testing::HasSubstr;

// The status of a retriever that is told what came of each look, and what is logged of it.
class RulesLogTest : public ::testing::Test {
 protected:
  RulesLogTest() {
    status_.source = "the database a.db";
    EXPECT_EQ(Look({Retrieved::Outcome::kRules, {}, "1", {}, ""}), "") << "the start says it";
  }
  std::string Look(const Retrieved& found, const rule::Problems& refused = {}) {
    const RetrieverStatus before = status_;
    status_.Note(found, refused, {});
    out_.str("");
    LogLook(log_, before, status_, Log::Time{});
    return out_.str();
  }
  static Retrieved Away() { return {Retrieved::Outcome::kAway, {}, "", {}, "it does not answer"}; }
  static Retrieved Bad(const std::string& version, const rule::Problems& problems) {
    return {Retrieved::Outcome::kBad, {}, version, problems, ""};
  }
  static Retrieved Same() { return {}; }

  std::ostringstream out_;
  Log log_{out_, LogFormat::kText, LogLevel::kInfo};
  RetrieverStatus status_;
};

TEST_F(RulesLogTest, ALookThatChangesNothingIsNotLogged) { EXPECT_EQ(Look(Same()), ""); }

TEST_F(RulesLogTest, NewerRulesAreLoggedWithBothVersions) {
  EXPECT_THAT(Look({Retrieved::Outcome::kRules, {}, "2", {}, ""}),
              AllOf(HasSubstr("info    rules_replaced"), HasSubstr("version=2 before=1")));
}

TEST_F(RulesLogTest, ASourceThatIsLostIsLoggedOnceAndOnceWhenItIsFound) {
  EXPECT_THAT(Look(Away()), AllOf(HasSubstr("error   source_lost"), HasSubstr("does not answer")));
  EXPECT_EQ(Look(Away()), "");
  EXPECT_THAT(Look(Same()), AllOf(HasSubstr("source_found"), HasSubstr("failed_looks=2")));
  EXPECT_EQ(Look(Same()), "");
}

TEST_F(RulesLogTest, BadRulesAreLoggedOncePerVersionWithWhatIsWrong) {
  const rule::Problems problems = {{"a.yaml", {3, 4}, "login", "no limit", "write one"},
                                   {"b.yaml", {1, 1}, "", "no list", ""}};
  EXPECT_THAT(
      Look(Bad("2", problems)),
      AllOf(HasSubstr("error   rules_refused"),
            HasSubstr("a.yaml:3:4: rule 'login': no limit; write one | b.yaml:1:1: no list"),
            HasSubstr("version=1 refused=2 problems=2")));
  EXPECT_EQ(Look(Same()), "");
  EXPECT_EQ(Look(Bad("2", problems)), "");
  EXPECT_THAT(Look(Bad("3", problems)), HasSubstr("refused=3"));
  EXPECT_THAT(Look({Retrieved::Outcome::kRules, {}, "4", {}, ""}, problems), HasSubstr("refused=4"))
      << "the limiter did not take them";
  EXPECT_THAT(Look({Retrieved::Outcome::kRules, {}, "5", {}, ""}), HasSubstr("version=5"));
}

TEST_F(RulesLogTest, AThousandProblemsAreTwentyAndANumber) {
  const rule::Problems many(1000, {"a.yaml", {1, 1}, "", "wrong", ""});
  const std::string line = Look(Bad("2", many));
  EXPECT_THAT(line, AllOf(HasSubstr("| and 980 more"), HasSubstr("problems=1000")));
}

TEST(CertificateLogTest, AnotherCertificateIsLoggedAndABadOneOncePerReason) {
  std::ostringstream out;
  Log log(out, LogFormat::kText, LogLevel::kInfo);
  const Log::Time now{};
  const auto look = [&](const net::TlsStatus& before, const net::TlsStatus& after) {
    out.str("");
    LogLook(log, before, after, now);
    return out.str();
  };
  net::TlsStatus first;
  first.not_after += std::chrono::days(30);
  EXPECT_EQ(look(first, first), "");
  net::TlsStatus next = first;
  next.exchanged = 1;
  next.not_after += std::chrono::days(60);
  EXPECT_THAT(
      look(first, next),
      HasSubstr("info    certificate_replaced: another certificate is in use days_left=90"));
  net::TlsStatus bad = next;
  bad.error = "the key does not fit";
  bad.failures = 1;
  EXPECT_THAT(look(next, bad),
              AllOf(HasSubstr("error   certificate_refused"), HasSubstr("does not fit")));
  EXPECT_EQ(look(bad, bad), "");
  EXPECT_EQ(look(bad, next), "");
}

}  // namespace
}  // namespace weir
