#include "frontend/resp_session.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "rule/rule_file.h"

namespace weir {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Instant kStart{seconds(1'780'315'200)};

class RespSessionTest : public testing::Test {
 protected:
  // A line of words, as one types it; the answer with its line ends as blanks.
  std::string Say(const std::string& line, Nanos at = Nanos(0)) {
    std::string out;
    last_ = session_.Serve(line + "\r\n", kStart + at, out);
    std::string shown;
    for (std::size_t i = 0; i < out.size(); ++i) {
      if (out[i] == '\r') continue;
      shown += out[i] == '\n' ? ' ' : out[i];
    }
    if (!shown.empty()) shown.pop_back();
    return shown;
  }

  RespOptions options_;
  Checker checker_{std::move(Ledger::Open({.max_keys = 1000})).value(), {}};
  RespSession session_{checker_, options_};
  RespSession::Progress last_;
};

TEST_F(RespSessionTest, AnswersClThrottleAsRedisCellDoes) {
  EXPECT_EQ(Say("CL.THROTTLE user 2 30 60"), "*5 :0 :3 :2 :-1 :2");
  EXPECT_EQ(Say("cl.throttle user 2 30 60"), "*5 :0 :3 :1 :-1 :4");
  EXPECT_EQ(Say("CL.THROTTLE user 2 30 60 1"), "*5 :0 :3 :0 :-1 :6");
  EXPECT_EQ(Say("CL.THROTTLE user 2 30 60"), "*5 :1 :3 :0 :2 :6");
  EXPECT_EQ(Say("CL.THROTTLE user 2 30 60 0"), "*5 :0 :3 :0 :-1 :6");
  EXPECT_EQ(Say("CL.THROTTLE user 2 30 60 4"), "*5 :1 :3 :0 :-1 :6");
  EXPECT_EQ(Say("CL.THROTTLE user 2 30 60", seconds(2)), "*5 :0 :3 :0 :-1 :6");
  EXPECT_EQ(Say("CL.THROTTLE other 2 30 60"), "*5 :0 :3 :2 :-1 :2");
}

TEST_F(RespSessionTest, SaysWhatIsWrongWithClThrottleInItsWords) {
  EXPECT_EQ(Say("CL.THROTTLE user 2 30"),
            "-Cell error: Usage: cl.throttle <key> <max_burst> <count per period> <period> "
            "[<quantity>]");
  EXPECT_EQ(Say("CL.THROTTLE user 2 x 60"), "-Cell error: Couldn't parse as integer: x");
  EXPECT_EQ(Say("CL.THROTTLE user 2 0 60"), "-Cell error: Zero rates are not supported");
  EXPECT_EQ(Say("CL.THROTTLE user 2 1 60 -1"),
            "-Cell error: max_burst and quantity must not be negative");
}

TEST_F(RespSessionTest, AnswersThrottleAsThrottlecrabDoes) {
  EXPECT_EQ(Say("THROTTLE user 3 30 60"), "*5 :1 :3 :2 :2 :0");
  EXPECT_EQ(Say("THROTTLE user 3 30 60 2"), "*5 :1 :3 :0 :6 :0");
  EXPECT_EQ(Say("THROTTLE user 3 30 60"), "*5 :0 :3 :0 :6 :2");
  EXPECT_EQ(Say("THROTTLE user 3 30"), "-ERR wrong number of arguments for 'throttle' command");
  EXPECT_EQ(Say("THROTTLE user 0 30 60"), "-ERR invalid max_burst");
  EXPECT_EQ(Say("THROTTLE user 3 30 60 x"), "-ERR invalid quantity");
}

// The limit of the last command is kept: each of these differs from the one before it in one word.
TEST_F(RespSessionTest, EachCommandIsDecidedByItsOwnLimit) {
  EXPECT_EQ(Say("CL.THROTTLE a 2 30 60"), "*5 :0 :3 :2 :-1 :2");
  EXPECT_EQ(Say("CL.THROTTLE b 3 30 60"), "*5 :0 :4 :3 :-1 :2");
  EXPECT_EQ(Say("CL.THROTTLE c 3 15 60"), "*5 :0 :4 :3 :-1 :4");
  EXPECT_EQ(Say("CL.THROTTLE d 3 15 30"), "*5 :0 :4 :3 :-1 :2");
  EXPECT_EQ(Say("CL.THROTTLE e 3 15 300"), "*5 :0 :4 :3 :-1 :20");
  EXPECT_EQ(Say("CL.THROTTLE f 3 15 3000000"), "*5 :0 :4 :3 :-1 :200000");
  EXPECT_EQ(Say("CL.THROTTLE g 3 15 3000015"), "*5 :0 :4 :3 :-1 :200001");
  EXPECT_EQ(Say("CL.THROTTLE h 3 15 000000030"), "*5 :0 :4 :3 :-1 :2");
  EXPECT_EQ(Say("CL.THROTTLE i 3 15 000000060"), "*5 :0 :4 :3 :-1 :4");
  EXPECT_EQ(Say("THROTTLE j 3 15 60"), "*5 :1 :3 :2 :4 :0");
  EXPECT_EQ(Say("CL.THROTTLE k 3 15 60"), "*5 :0 :4 :3 :-1 :4");
}

TEST_F(RespSessionTest, TheSameLimitAgainStillHasItsKeyAndQuantityRead) {
  EXPECT_EQ(Say("CL.THROTTLE a 2 30 60 2"), "*5 :0 :3 :1 :-1 :4");
  EXPECT_EQ(Say("CL.THROTTLE b 2 30 60"), "*5 :0 :3 :2 :-1 :2");
  EXPECT_EQ(Say("CL.THROTTLE b 2 30 60 2"), "*5 :0 :3 :0 :-1 :6");
  EXPECT_EQ(Say("CL.THROTTLE b 2 30 60 x"), "-Cell error: Couldn't parse as integer: x");
  EXPECT_EQ(Say("CL.THROTTLE b 2 30 60 -1"),
            "-Cell error: max_burst and quantity must not be negative");
  EXPECT_EQ(Say("CL.THROTTLE b 2 30 60 1 1").substr(0, 18), "-Cell error: Usage");
  EXPECT_EQ(Say("CL.THROTTLE a 2 30 60"), "*5 :0 :3 :0 :-1 :6");
}

TEST_F(RespSessionTest, ALimitOfEmptyWordsIsRefusedHoweverOften) {
  const std::string refused = "-Cell error: Couldn't parse as integer:";
  for (const char* line : {"CL.THROTTLE a '' '' ''", "CL.THROTTLE a '' '' ''"}) {
    EXPECT_EQ(Say(line).substr(0, refused.size()), refused);
  }
}

TEST_F(RespSessionTest, CountsWhatWasAnsweredWithAMistake) {
  Say("PING\r\nNONSENSE\r\nECHO -x\r\nCL.THROTTLE user 2 30");
  EXPECT_EQ(last_.requests, 4);
  EXPECT_EQ(last_.errors, 2);
}

TEST_F(RespSessionTest, StopsWhenThereIsEnoughToSend) {
  std::string bytes;
  while (bytes.size() < 3 * RespSession::kEnough) bytes += "PING " + std::string(500, 'x') + "\r\n";
  std::string out;
  const RespSession::Progress progress = session_.Serve(bytes, kStart, out);
  EXPECT_TRUE(progress.more);
  EXPECT_GE(out.size(), RespSession::kEnough);
  EXPECT_LT(out.size(), RespSession::kEnough + 600);
  EXPECT_LT(progress.consumed, bytes.size());
}

TEST_F(RespSessionTest, HugeNumbersAreNoHarm) {
  EXPECT_EQ(Say("CL.THROTTLE user 9223372036854775807 9223372036854775807 9223372036854775807 "
                "9223372036854775807")
                .substr(0, 2),
            "*5");
  EXPECT_EQ(Say("CL.THROTTLE user 1 1 9223372036854775807").substr(0, 5), "*5 :0");
}

TEST_F(RespSessionTest, DelResetsAKey) {
  EXPECT_EQ(Say("CL.THROTTLE user 0 1 60"), "*5 :0 :1 :0 :-1 :60");
  EXPECT_EQ(Say("EXISTS user other"), ":1");
  EXPECT_EQ(Say("TTL user"), ":60");
  EXPECT_EQ(Say("PTTL user", milliseconds(500)), ":59500");
  EXPECT_EQ(Say("DEL user other"), ":1");
  EXPECT_EQ(Say("TTL user"), ":-2");
  EXPECT_EQ(Say("CL.THROTTLE user 0 1 60"), "*5 :0 :1 :0 :-1 :60");
}

TEST_F(RespSessionTest, ChecksByRuleWithMilliseconds) {
  rule::Problems problems;
  auto set = rule::ReadRules(
      "namespace: shop\nrules: [{name: api, match: {path: /api}, by: [user], limit: 2/s}]", "t",
      problems);
  ASSERT_TRUE(checker_.Publish({std::move(*set)}, "1").empty());
  EXPECT_EQ(Say("WEIR.CHECK shop path /api user ann"), "*7 :1 $3 api :2 :1 :0 :500 :0");
  EXPECT_EQ(Say("WEIR.CHECK shop COST 2 path /api user ann"), "*7 :0 $3 api :2 :1 :500 :500 :0");
  EXPECT_EQ(Say("WEIR.CHECK shop path /api user ann NEXT path /api user ann NEXT path /x"),
            "*3 *7 :1 $3 api :2 :0 :0 :1000 :0 *7 :0 $3 api :2 :0 :500 :1000 :0 "
            "*7 :1 $-1 :-1 :-1 :0 :0 :0");
  EXPECT_EQ(Say("WEIR.CHECK shop path"), "-ERR wrong number of arguments for 'weir.check' command");
  EXPECT_EQ(Say("WEIR.CHECK shop COST x path /api"), "-ERR COST must be a whole number");
}

TEST_F(RespSessionTest, EverythingInOneReadIsAnsweredInOrder) {
  std::string out;
  const std::string bytes =
      "*1\r\n$4\r\nPING\r\n*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\nPING x\r\n*1\r\n$4\r\nPI";
  const RespSession::Progress progress = session_.Serve(bytes, kStart, out);
  EXPECT_EQ(out, "+PONG\r\n$2\r\nhi\r\n$1\r\nx\r\n");
  EXPECT_EQ(progress.consumed, bytes.size() - 10);
  EXPECT_FALSE(progress.close);
}

TEST_F(RespSessionTest, SaysWhatClientsAskForOnConnect) {
  EXPECT_EQ(Say("HELLO 4"), "-NOPROTO unsupported protocol version");
  EXPECT_EQ(Say("HELLO 3 SETNAME me").substr(0, 18), "%7 $6 server $4 we");
  EXPECT_EQ(Say("CLIENT SETINFO LIB-NAME x"), "+OK");
  EXPECT_EQ(Say("CLIENT GETNAME"), "_");
  EXPECT_EQ(Say("SELECT 0"), "+OK");
  EXPECT_EQ(Say("SELECT 1"), "-ERR DB index is out of range");
  EXPECT_EQ(Say("COMMAND COUNT"), ":18");
  EXPECT_EQ(Say("INFO").substr(0, 1), "=");
  EXPECT_EQ(Say("NONSENSE x"), "-ERR unknown command 'NONSENSE'");
  EXPECT_EQ(Say("QUIT"), "+OK");
  EXPECT_TRUE(last_.close);
}

TEST_F(RespSessionTest, NonsenseIsAnsweredAndEndsTheConnection) {
  EXPECT_EQ(Say("*x").substr(0, 20), "-ERR Protocol error:");
  EXPECT_TRUE(last_.close);
}

TEST_F(RespSessionTest, WithAPasswordNobodyIsServedWithoutIt) {
  RespOptions options{.password = "secret"};
  RespSession session(checker_, options);
  const auto say = [&](const std::string& line) {
    std::string out;
    session.Serve(line + "\r\n", kStart, out);
    return out.substr(0, out.find(' '));
  };
  EXPECT_EQ(say("PING"), "-NOAUTH");
  EXPECT_EQ(say("CL.THROTTLE a 1 1 1"), "-NOAUTH");
  EXPECT_EQ(say("HELLO 3"), "-NOAUTH");
  EXPECT_EQ(say("AUTH wrong"), "-WRONGPASS");
  EXPECT_EQ(say("AUTH secretsecret"), "-WRONGPASS");
  EXPECT_EQ(say("AUTH default secret"), "+OK\r\n");
  EXPECT_EQ(say("PING"), "+PONG\r\n");
  EXPECT_EQ(say("RESET"), "+RESET\r\n");
  EXPECT_EQ(say("PING"), "-NOAUTH");
}

class FixedAccess final : public Access {
 public:
  [[nodiscard]] Caller Identify(std::string_view token) const override {
    return token == "weir_ann" ? Caller{"ann", Role::kViewer} : Caller{};
  }
};

class RespAuthTest : public RespSessionTest {
 protected:
  std::string Say(RespSession& session, const std::string& line) {
    std::string out;
    last_ = session.Serve(line + "\r\n", kStart, out);
    failed_ += last_.failed_auths;
    return out.substr(0, out.find_first_of(" \r"));
  }

  FixedAccess access_;
  RespOptions tokens_{.access = &access_};
  std::uint64_t failed_ = 0;
};

TEST_F(RespAuthTest, ATokenIsAsGoodAsAPassword) {
  for (const char* auth : {"AUTH weir_ann", "AUTH default weir_ann", "AUTH ann weir_ann"}) {
    RespSession session(checker_, tokens_);
    EXPECT_EQ(Say(session, "PING"), "-NOAUTH");
    EXPECT_EQ(Say(session, auth), "+OK") << auth;
    EXPECT_EQ(Say(session, "PING"), "+PONG");
    EXPECT_EQ(Say(session, "RESET"), "+RESET");
    EXPECT_EQ(Say(session, "PING"), "-NOAUTH");
  }
  RespSession session(checker_, tokens_);
  EXPECT_EQ(Say(session, "HELLO 3 AUTH ann weir_ann"), "%7");
  EXPECT_EQ(Say(session, "PING"), "+PONG");
  EXPECT_EQ(failed_, 0);
}

TEST_F(RespAuthTest, NothingElseIs) {
  for (const char* auth : {"AUTH weir_bob", "AUTH bob weir_ann", "AUTH ann ''", "AUTH ann ann"}) {
    RespSession session(checker_, tokens_);
    EXPECT_EQ(Say(session, auth), "-WRONGPASS") << auth;
    EXPECT_EQ(Say(session, "PING"), "-NOAUTH");
  }
  EXPECT_EQ(failed_, 4);
}

TEST_F(RespAuthTest, PasswordAndTokensMayBeInUseAtOnce) {
  const RespOptions both{.password = "secret", .access = &access_};
  for (const char* auth : {"AUTH secret", "AUTH weir_ann"}) {
    RespSession session(checker_, both);
    EXPECT_EQ(Say(session, auth), "+OK");
  }
  RespSession session(checker_, both);
  EXPECT_EQ(Say(session, "AUTH other"), "-WRONGPASS");
}

TEST_F(RespAuthTest, TheThirdWrongTokenEndsTheConnection) {
  RespSession session(checker_, tokens_);
  EXPECT_EQ(Say(session, "AUTH no"), "-WRONGPASS");
  EXPECT_EQ(Say(session, "RESET"), "+RESET");
  EXPECT_EQ(Say(session, "HELLO 3 AUTH ann no"), "-WRONGPASS");
  EXPECT_FALSE(last_.close);
  // What is behind it in the same read is not carried out.
  EXPECT_EQ(Say(session, "AUTH no\r\nAUTH weir_ann\r\nPING"), "-WRONGPASS");
  EXPECT_TRUE(last_.close);
  EXPECT_EQ(last_.requests, 1);
  EXPECT_EQ(failed_, 3);
}

TEST_F(RespAuthTest, ARightTokenAfterTwoWrongOnesIsServed) {
  RespSession session(checker_, tokens_);
  EXPECT_EQ(Say(session, "AUTH no"), "-WRONGPASS");
  EXPECT_EQ(Say(session, "AUTH no"), "-WRONGPASS");
  EXPECT_EQ(Say(session, "AUTH weir_ann"), "+OK");
  EXPECT_FALSE(last_.close);
}

TEST_F(RespSessionTest, ABrowserThatIsMadeToTalkToThisPortIsHungUpOn) {
  EXPECT_EQ(Say("POST / HTTP/1.1\r\nPING"), "");
  EXPECT_TRUE(last_.close);
}

TEST_F(RespSessionTest, WhatComesAfterAHostLineIsNotCarriedOut) {
  EXPECT_EQ(Say("PING\r\nhost: weir\r\nPING"), "+PONG");
  EXPECT_TRUE(last_.close);
  RespSession other(checker_, options_);
  std::string out;
  EXPECT_FALSE(other.Serve("POSTE\r\nHOSTS\r\nECHO POST\r\n", kStart, out).close);
  EXPECT_EQ(out, "-ERR unknown command 'POSTE'\r\n-ERR unknown command 'HOSTS'\r\n$4\r\nPOST\r\n");
}

TEST_F(RespSessionTest, APeekTakesNothing) {
  rule::Problems problems;
  auto set = rule::ReadRules(
      "namespace: shop\nrules: [{name: api, by: [user], limit: token_bucket 2/10s}]", "test.yaml",
      problems);
  ASSERT_TRUE(checker_.Publish({std::move(*set)}, "test").empty());
  EXPECT_EQ(Say("WEIR.PEEK shop COST 2 user 7"), "*7 :1 $3 api :2 :2 :0 :0 :0");
  EXPECT_EQ(Say("WEIR.CHECK shop COST 2 user 7"), "*7 :1 $3 api :2 :0 :0 :10000 :0");
  EXPECT_EQ(Say("weir.peek shop user 7"), "*7 :0 $3 api :2 :0 :5000 :10000 :0");
  EXPECT_EQ(Say("WEIR.PEEK shop user"), "-ERR wrong number of arguments for 'weir.peek' command");
}

}  // namespace
}  // namespace weir
