// Clients of a host in a cluster: who has to wait is answered in order, and only once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "frontend/http_session.h"
#include "frontend/resp_session.h"
#include "tests/cluster_harness.h"

namespace weir {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;

class ClusterSessionsTest : public testing::Test {
 protected:
  ClusterSeat Seat() { return {.cluster = &hosts_[0].cluster, .waiter = &hosts_[0]}; }
  // All that was asked of the store is answered.
  void Answer() {
    while (hosts_[0].store.waiting() != 0) {
      hosts_[0].store.Deliver();
      hosts_.Settle();
    }
  }

  ClusterHarness hosts_{1,
                        "- {name: shared, match: {path: /shared/**}, by: [user], "
                        "limit: fixed_window 2/h, cluster: strict}\n"
                        "- {name: own, match: {path: /own/**}, by: [user], limit: 2/h}"};
};

std::string Resp(const std::vector<std::string>& words) {
  std::string command = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words) {
    command += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  }
  return command;
}

std::string Check(const std::string& path, const std::string& user) {
  return Resp({"WEIR.CHECK", "shop", "path", path, "user", user});
}

// The first number of each answer: whether it passed.
std::vector<int> Passed(std::string_view answers) {
  std::vector<int> passed;
  for (std::size_t at = answers.find("*7\r\n:"); at != std::string_view::npos;
       at = answers.find("*7\r\n:", at + 1)) {
    passed.push_back(answers[at + 5] - '0');
  }
  return passed;
}

TEST_F(ClusterSessionsTest, APipelineIsAskedForInOneGoAndAnsweredInOrder) {
  hosts_[0].store.is_late = true;
  const RespOptions options;
  RespSession session(hosts_[0].checker, options, Seat());
  const std::string asked = Check("/own/", "ann") + Check("/shared/", "ann") +
                            Check("/own/", "ann") + Check("/shared/", "ann") +
                            Check("/shared/", "ann") + Resp({"PING"});
  std::string out;
  RespSession::Progress progress = session.Serve(asked, hosts_.now(), out);
  EXPECT_TRUE(progress.waits);
  EXPECT_EQ(progress.requests, 1U);
  EXPECT_EQ(progress.consumed, Check("/own/", "ann").size());
  EXPECT_EQ(Passed(out), std::vector<int>({1}));
  hosts_.Settle();
  EXPECT_EQ(hosts_[0].store.waiting(), 1U) << "one exchange for all three";

  std::string_view rest = std::string_view(asked).substr(progress.consumed);
  out.clear();
  progress = session.Serve(rest, hosts_.now(), out);
  EXPECT_TRUE(progress.waits) << "still";
  EXPECT_EQ(progress.consumed, 0U);
  EXPECT_EQ(out, "");

  Answer();
  EXPECT_GE(hosts_[0].told, 1);
  progress = session.Serve(rest, hosts_.now(), out);
  EXPECT_FALSE(progress.waits);
  EXPECT_EQ(progress.consumed, rest.size());
  EXPECT_EQ(progress.requests, 5U);
  EXPECT_EQ(Passed(out), std::vector<int>({1, 1, 1, 0})) << "each was counted once";
  EXPECT_THAT(out, testing::EndsWith("+PONG\r\n"));
}

TEST_F(ClusterSessionsTest, NoOtherCommandIsExecutedBeforeItsTurn) {
  hosts_[0].store.is_late = true;
  const RespOptions options;
  RespSession session(hosts_[0].checker, options, Seat());
  const std::string asked =
      Check("/shared/", "ann") + Resp({"CL.THROTTLE", "key", "5", "1", "3600"});
  std::string out;
  EXPECT_TRUE(session.Serve(asked, hosts_.now(), out).waits);
  hosts_.Settle();
  EXPECT_TRUE(session.Serve(asked, hosts_.now(), out).waits);
  Answer();
  EXPECT_FALSE(session.Serve(asked, hosts_.now(), out).waits);
  EXPECT_THAT(out, HasSubstr("*5\r\n:0\r\n:6\r\n:5\r\n")) << "once: 5 are left of 6";
}

TEST_F(ClusterSessionsTest, SeveralRequestsOfOneCommandWaitTogether) {
  hosts_[0].store.is_late = true;
  const RespOptions options;
  RespSession session(hosts_[0].checker, options, Seat());
  const std::string asked =
      Resp({"WEIR.CHECK", "shop", "path", "/shared/", "user", "ann", "NEXT", "path", "/own/",
            "user", "ann", "NEXT", "path", "/shared/", "user", "bob"});
  std::string out;
  EXPECT_TRUE(session.Serve(asked, hosts_.now(), out).waits);
  EXPECT_EQ(out, "");
  hosts_.Settle();
  Answer();
  EXPECT_FALSE(session.Serve(asked, hosts_.now(), out).waits);
  EXPECT_THAT(out, StartsWith("*3\r\n"));
  EXPECT_EQ(Passed(out), std::vector<int>({1, 1, 1}));
}

TEST_F(ClusterSessionsTest, WhatWasAnsweredHoldsNoRules) {
  const RespOptions options;
  RespSession session(hosts_[0].checker, options, Seat());
  std::string asked;
  for (int i = 0; i < 5; ++i) asked += Check("/shared/", "user" + std::to_string(i));
  std::string out;
  while (session.Serve(asked, hosts_.now(), out).waits) hosts_.Settle();
  hosts_.Use("- {name: other, by: [user], limit: fixed_window 1/h, cluster: strict}");
  EXPECT_EQ(hosts_[0].checker.replaced_rules(), 0U);
}

TEST_F(ClusterSessionsTest, AClientThatGoesWhileItWaitsLeavesNothingBehind) {
  hosts_[0].store.is_late = true;
  const RespOptions options;
  {
    RespSession session(hosts_[0].checker, options, Seat());
    std::string out;
    EXPECT_TRUE(session.Serve(Check("/shared/", "ann"), hosts_.now(), out).waits);
    session.Abandon(hosts_.now());
  }
  hosts_.Settle();
  Answer();
  hosts_[0].store.is_late = false;
  EXPECT_EQ(hosts_[0].told, 0);
}

class ClusterHttpTest : public ClusterSessionsTest {
 protected:
  static std::string Get(const std::string& path, const std::string& more = "") {
    return "GET " + path + " HTTP/1.1\r\nHost: a\r\nX-Weir-Namespace: shop\r\n" + more + "\r\n";
  }

  HttpOptions options_;
  // Over a Unix socket: a gateway.
  HttpSession session_{hosts_[0].checker, options_, std::nullopt, std::nullopt, Seat()};
};

TEST_F(ClusterHttpTest, ARequestWaitsAndTheNextComesAfterIt) {
  hosts_.Use("- {name: shared, limit: fixed_window 1/h, cluster: strict}");
  hosts_[0].store.is_late = true;
  const std::string asked = Get("/check/a") + Get("/check/b");
  std::string out;
  HttpSession::Progress progress = session_.Serve(asked, hosts_.now(), out);
  EXPECT_EQ(progress.then, HttpSession::Then::kWait);
  EXPECT_EQ(progress.consumed, Get("/check/a").size());
  EXPECT_EQ(out, "");
  hosts_.Settle();
  EXPECT_EQ(session_.Resume(hosts_.now(), out).then, HttpSession::Then::kWait) << "woken too early";
  Answer();
  EXPECT_EQ(session_.Resume(hosts_.now(), out).then, HttpSession::Then::kGoOn);
  EXPECT_THAT(out, StartsWith("HTTP/1.1 200"));
  out.clear();
  progress = session_.Serve(asked.substr(progress.consumed), hosts_.now(), out);
  if (progress.then == HttpSession::Then::kWait) {
    hosts_.Settle();
    Answer();
    session_.Resume(hosts_.now(), out);
  }
  EXPECT_THAT(out, StartsWith("HTTP/1.1 429"));
}

TEST_F(ClusterHttpTest, WhoAsksToCloseIsAnsweredFirst) {
  hosts_.Use("- {name: shared, limit: fixed_window 1/h, cluster: strict}");
  hosts_[0].store.is_late = true;
  std::string out;
  EXPECT_EQ(session_.Serve(Get("/check/a", "Connection: close\r\n"), hosts_.now(), out).then,
            HttpSession::Then::kWait);
  hosts_.Settle();
  Answer();
  EXPECT_EQ(session_.Resume(hosts_.now(), out).then, HttpSession::Then::kClose);
  EXPECT_THAT(out, StartsWith("HTTP/1.1 200"));
}

TEST_F(ClusterHttpTest, ABatchOfJsonIsAnsweredWhenAllOfItIsKnown) {
  hosts_[0].store.is_late = true;
  const std::string one = R"({"namespace":"shop","attributes":{"path":"/shared/","user":"ann"}})";
  const std::string own = R"({"namespace":"shop","attributes":{"path":"/own/","user":"ann"}})";
  std::string body = "{\"requests\":[" + own;
  for (int i = 0; i < 3; ++i) body += "," + one;
  body += "]}";
  const std::string asked =
      "POST /v1/check HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) +
      "\r\n\r\n" + body;
  std::string out;
  EXPECT_EQ(session_.Serve(asked, hosts_.now(), out).then, HttpSession::Then::kWait);
  hosts_.Settle();
  Answer();
  EXPECT_EQ(session_.Resume(hosts_.now(), out).then, HttpSession::Then::kGoOn);
  std::string verdicts;
  for (std::size_t at = out.find("{\"allowed\":"); at != std::string::npos;
       at = out.find("{\"allowed\":", at + 1)) {
    verdicts += out[at + 11];
  }
  EXPECT_EQ(verdicts, "tttf") << out;
}

}  // namespace
}  // namespace weir
