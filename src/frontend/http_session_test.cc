#include "frontend/http_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rule/rule_file.h"

namespace weir {
namespace {

using std::chrono::seconds;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Then = HttpSession::Then;

constexpr Instant kStart{seconds(1'780'315'200)};

rule::Address AddressOf(const char* text) { return rule::Address::Parse(text).value(); }

class HttpSessionTest : public testing::Test {
 protected:
  HttpSessionTest() {
    options_.space = "shop";
    options_.gateways = {rule::Network::Parse("10.0.0.0/8").value()};
    rule::ClientOptions clients;
    clients.trusted.networks = options_.gateways;
    clients.trusted.header = rule::ForwardedHeader::kXForwardedFor;
    options_.clients = rule::ClientIdentifier(std::move(clients));
  }
  void Use(const std::string& rules) {
    rule::Problems problems;
    auto set = rule::ReadRules("namespace: shop\nrules:\n" + rules, "test.yaml", problems);
    ASSERT_TRUE(set.has_value()) << problems[0].ToString();
    ASSERT_TRUE(checker_.Publish({std::move(*set)}, "test").empty());
  }
  std::string Send(const std::string& bytes, const char* peer = "10.0.0.1") {
    session_.emplace(checker_, options_, AddressOf(peer), std::nullopt);
    std::string out;
    progress_ = session_->Serve(bytes, kStart, out);
    return out;
  }
  static std::string Get(const std::string& target, const std::string& fields = {}) {
    return "GET " + target + " HTTP/1.1\r\nHost: weir\r\n" + fields + "\r\n";
  }
  static std::string Post(const std::string& target, const std::string& body) {
    return "POST " + target +
           " HTTP/1.1\r\nHost: weir\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
  }

  HttpOptions options_;
  Checker checker_{std::move(Ledger::Open({.max_keys = 1000})).value(), {}};
  std::optional<HttpSession> session_;
  HttpSession::Progress progress_;
};

TEST_F(HttpSessionTest, AGatewayIsToldToAllowAndThenToDeny) {
  Use("- {name: login, match: {path: /login}, by: [ip], limit: fixed_window 1/min}");
  const std::string ask =
      Get("/check", "X-Forwarded-Uri: /login?a=b\r\nX-Forwarded-For: 203.0.113.7\r\n");
  const std::string allowed = Send(ask);
  EXPECT_THAT(allowed, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(allowed, HasSubstr("RateLimit: \"login\";r=0;t=60\r\n"));
  EXPECT_THAT(allowed, HasSubstr("Content-Length: 0\r\n"));
  const std::string denied = Send(ask);
  EXPECT_THAT(denied, StartsWith("HTTP/1.1 429 Too Many Requests\r\n"));
  EXPECT_THAT(denied, HasSubstr("Retry-After: 60\r\n"));
  EXPECT_THAT(denied, HasSubstr("Content-Type: application/problem+json\r\n"));
  EXPECT_THAT(denied, HasSubstr("#quota-exceeded"));
  EXPECT_THAT(denied, HasSubstr("\"violated-policies\":[\"login\"]"));
  // Another client behind the same gateway.
  EXPECT_THAT(Send(Get("/check", "X-Forwarded-Uri: /login\r\nX-Forwarded-For: 203.0.113.8\r\n")),
              StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpSessionTest, WhoIsNoGatewayIsNotBelieved) {
  Use("- {name: login, match: {path: /login}, by: [ip], limit: 1/min}");
  const std::string lie =
      Get("/check/login", "X-Forwarded-Uri: /other\r\nX-Forwarded-For: 1.1.1.1\r\n");
  EXPECT_THAT(Send(lie, "203.0.113.7"), StartsWith("HTTP/1.1 200"));
  const std::string other_lie =
      Get("/check/login", "X-Forwarded-Uri: /other\r\nX-Forwarded-For: 2.2.2.2\r\n");
  EXPECT_THAT(Send(other_lie, "203.0.113.7"), StartsWith("HTTP/1.1 429"));
}

TEST_F(HttpSessionTest, WhoCanConnectToAUnixSocketIsBelieved) {
  Use("- {name: login, match: {path: /login}, by: [ip], limit: 1/min}");
  const auto ask = [&](const std::string& client) {
    session_.emplace(checker_, options_, std::nullopt, std::nullopt);
    std::string out;
    session_->Serve(Get("/check", "X-Forwarded-Uri: /login\r\nX-Forwarded-For: " + client + "\r\n"),
                    kStart, out);
    return out.substr(9, 3);
  };
  EXPECT_EQ(ask("203.0.113.7"), "200");
  EXPECT_EQ(ask("1.1.1.1, 203.0.113.7"), "429");
  EXPECT_EQ(ask("203.0.113.8"), "200");
}

TEST_F(HttpSessionTest, ThePathBehindThePrefixIsTheClientsOwn) {
  Use("- {name: a, match: {path: /a b, method: DELETE, header.x-plan: pro, query.q: 'x y', "
      "cookie.s: '1', host: shop.example}, limit: blocked}");
  const std::string ask =
      "DELETE /check/a%20b?q=x+y HTTP/1.1\r\nHost: Shop.Example:443\r\nX-Plan: pro\r\n"
      "Cookie: t=2; s=1\r\n\r\n";
  EXPECT_THAT(Send(ask), StartsWith("HTTP/1.1 429"));
  EXPECT_THAT(Send(Get("/checkout")), StartsWith("HTTP/1.1 404"));
}

TEST_F(HttpSessionTest, EverythingInOneReadIsAnsweredInOrder) {
  Use("- {name: a, limit: 1/min}");
  const std::string out = Send(Get("/check") + Get("/check") + "GET /che");
  EXPECT_THAT(out, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(out.substr(10), HasSubstr("HTTP/1.1 429"));
  EXPECT_EQ(progress_.consumed, 2 * Get("/check").size());
}

TEST_F(HttpSessionTest, ABodyThatNobodyAskedForIsPassedOver) {
  Use("- {name: a, limit: 2/min}");
  const std::string out = Send(Post("/check", "GET /check HTTP/1.1\r\n\r\n") + Get("/check"));
  EXPECT_THAT(out, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(out.substr(10), HasSubstr("HTTP/1.1 200"));
  EXPECT_THAT(Send(Get("/check")), StartsWith("HTTP/1.1 429"));
}

TEST_F(HttpSessionTest, ARequestMayComeByteByByte) {
  Use("- {name: a, limit: 1/min}");
  session_.emplace(checker_, options_, AddressOf("10.0.0.1"), std::nullopt);
  const std::string bytes =
      Post("/v1/check", "{\"namespace\":\"shop\",\"attributes\":{}}") + Get("/check");
  std::string unread;
  std::string out;
  for (const char byte : bytes) {
    unread += byte;
    unread.erase(0, session_->Serve(unread, kStart, out).consumed);
  }
  EXPECT_THAT(out, HasSubstr("{\"allowed\":true"));
  EXPECT_THAT(out, HasSubstr("HTTP/1.1 429"));
}

TEST_F(HttpSessionTest, ADelayHoldsTheAnswerAndADropGivesNone) {
  Use("- {name: slow, match: {path: /slow}, limit: 1/s, exceed: delay 2s}\n"
      "- {name: gone, match: {path: /gone}, limit: blocked, exceed: drop}");
  EXPECT_THAT(Send(Get("/check/slow")), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(Send(Get("/check/slow") + Get("/check/slow")), "");
  EXPECT_EQ(progress_.then, Then::kHold);
  EXPECT_EQ(progress_.hold, seconds(1));
  EXPECT_EQ(progress_.consumed, Get("/check/slow").size());
  std::string out;
  EXPECT_EQ(session_->Resume(kStart, out).then, Then::kGoOn);
  EXPECT_THAT(out, StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(Send(Get("/check/slow")), "");
  EXPECT_EQ(progress_.hold, seconds(2));
  session_->Abandon(kStart);
  EXPECT_EQ(Send(Get("/check/slow")), "");
  EXPECT_EQ(progress_.hold, seconds(2));
  EXPECT_EQ(Send(Get("/check/gone"), "203.0.113.7"), "");
  EXPECT_EQ(progress_.then, Then::kDrop);
  // A gateway is told whom to drop: its own connection would be the wrong one.
  EXPECT_THAT(Send(Get("/check/gone")),
              AllOf(StartsWith("HTTP/1.1 429"), HasSubstr("X-Weir-Decision: drop\r\n")));
  EXPECT_EQ(progress_.then, Then::kGoOn);
}

TEST_F(HttpSessionTest, WhatFollowsARequestThatWaitsIsNotDecidedBeforeItsTurn) {
  Use("- {name: slow, match: {path: /slow}, limit: 1/s, exceed: delay 2s}\n"
      "- {name: fast, match: {path: /fast}, limit: 3/min}");
  const std::string fast = Get("/check/fast");
  const std::string slow = Get("/check/slow");
  const std::string bytes = fast + slow + slow + fast + fast;
  EXPECT_THAT(Send(bytes), HasSubstr("\"fast\";r=2"));
  EXPECT_EQ(progress_.then, Then::kHold);
  EXPECT_EQ(progress_.consumed, (fast + slow + slow).size());
  EXPECT_EQ(progress_.requests, 3U);
  // Another connection comes before what is still to be read of this one.
  HttpSession other(checker_, options_, AddressOf("10.0.0.2"), std::nullopt);
  std::string out;
  other.Serve(fast, kStart, out);
  EXPECT_THAT(out, HasSubstr("\"fast\";r=1"));
  out.clear();
  session_->Resume(kStart + seconds(1), out);
  EXPECT_THAT(out, StartsWith("HTTP/1.1 200"));
  out.clear();
  progress_ = session_->Serve(fast + fast, kStart + seconds(1), out);
  EXPECT_EQ(progress_.requests, 2U);
  EXPECT_THAT(out, AllOf(HasSubstr("\"fast\";r=0"), HasSubstr("HTTP/1.1 429")));
}

TEST_F(HttpSessionTest, TheNamespaceMayChangeFromOneRequestToTheNext) {
  Use("- {name: a, limit: 3/min}");
  const std::string ours = Get("/check");
  const std::string unknown = Get("/check", "X-Weir-Namespace: nobody\r\n");
  const std::string out = Send(ours + ours + unknown + ours + unknown + ours);
  EXPECT_EQ(progress_.requests, 6U);
  EXPECT_THAT(out, HasSubstr("\"a\";r=0"));
  EXPECT_THAT(out, HasSubstr("HTTP/1.1 429"));
  EXPECT_EQ(checker_.counters().ReadOthers().unknown_space, 2U);
}

TEST_F(HttpSessionTest, TheStatusAndTheMessageAreTheRules) {
  Use("- {name: a, limit: blocked, status: 403, message: 'say \"please\"'}");
  const std::string out = Send(Get("/check"));
  EXPECT_THAT(out, StartsWith("HTTP/1.1 403 Forbidden\r\n"));
  EXPECT_THAT(out, HasSubstr("\"detail\":\"say \\\"please\\\"\""));
  EXPECT_THAT(out, Not(HasSubstr("Retry-After")));
}

TEST_F(HttpSessionTest, ChecksInJsonOneOrMany) {
  Use("- {name: a, by: [user], limit: 1/s}");
  const std::string one =
      Send(Post("/v1/check", "{\"namespace\":\"shop\",\"attributes\":{\"user\":\"ann\"}}"));
  EXPECT_THAT(one, HasSubstr("\"allowed\":true,\"rule\":\"a\",\"remaining\":0,\"retry_after_ms\":0,"
                             "\"reset_after_ms\":1000,\"wait_ms\":0"));
  const std::string many = Send(Post(
      "/v1/check",
      "{\"requests\":[{\"namespace\":\"shop\",\"attributes\":{\"user\":\"ann\"}},"
      "{\"namespace\":\"shop\",\"attributes\":{\"user\":\"bob\"}},{\"namespace\":\"other\"}]}"));
  EXPECT_THAT(many, HasSubstr("{\"replies\":[{\"allowed\":false,"));
  EXPECT_THAT(many, HasSubstr("\"retry_after_ms\":1000"));
  EXPECT_THAT(many, HasSubstr("{\"allowed\":true,\"unknown_namespace\":true"));
}

TEST_F(HttpSessionTest, WhatBecameOfARequestIsReported) {
  Use("- {name: f, match: {path: /f}, limit: 1/h, count: failures}\n"
      "- {name: c, match: {path: /c}, limit: 10/h}");
  const auto post = [&](const char* path, const char* rest) {
    return Send(Post(path, std::string("{\"namespace\":\"shop\",\"attributes\":") + rest));
  };
  EXPECT_THAT(Send(Get("/check/f")), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(post("/v1/report", "{\"path\":\"/f\"},\"outcome\":\"failed\"}"),
              StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Send(Get("/check/f")), StartsWith("HTTP/1.1 429"));
  EXPECT_THAT(post("/v1/charge", "{\"path\":\"/c\"},\"cost\":10}"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Send(Get("/check/c")), StartsWith("HTTP/1.1 429"));
  EXPECT_THAT(post("/v1/refund", "{\"path\":\"/c\"},\"cost\":1}"), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Send(Get("/check/c")), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpSessionTest, WrongInputIsToldWhatIsWrong) {
  const auto detail = [&](const std::string& body) {
    const std::string out = Send(Post("/v1/check", body));
    EXPECT_THAT(out, StartsWith("HTTP/1.1 400")) << body;
    return out.substr(out.find("detail"));
  };
  EXPECT_THAT(detail("{"), HasSubstr("this is not JSON"));
  EXPECT_THAT(detail("[1]"), HasSubstr("a request must be an object"));
  EXPECT_THAT(detail("{}"), HasSubstr("'namespace' is missing"));
  EXPECT_THAT(detail("{\"namespace\":1}"), HasSubstr("wrong type"));
  EXPECT_THAT(detail("{\"namespace\":\"a\",\"attributes\":{\"x\":1}}"),
              HasSubstr("attribute 'x' must be a text"));
  EXPECT_THAT(detail("{\"namespce\":\"a\"}"), HasSubstr("unknown member 'namespce'"));
  EXPECT_THAT(detail("{\"requests\":5}"), HasSubstr("at most 1000"));
  EXPECT_THAT(detail(std::string(100, '[')), HasSubstr("nested too deep"));
  EXPECT_THAT(detail("{\"namespace\":\"\xFF\"}"), HasSubstr("not UTF-8"));
  EXPECT_THAT(Send(Get("/v1/check")), StartsWith("HTTP/1.1 405"));
  EXPECT_THAT(Send(Post("/v1/nonsense", "{}")), StartsWith("HTTP/1.1 404"));
  EXPECT_THAT(Send("NONSENSE\r\n\r\n"), StartsWith("HTTP/1.1 400"));
  EXPECT_EQ(progress_.then, Then::kClose);
}

TEST_F(HttpSessionTest, TellsWhetherItIsReady) {
  std::atomic<bool> ready{false};
  options_.ready = &ready;
  EXPECT_THAT(Send(Get("/healthz")), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Send(Get("/readyz")), StartsWith("HTTP/1.1 503"));
  ready = true;
  EXPECT_THAT(Send(Get("/readyz")), StartsWith("HTTP/1.1 200"));
}

TEST_F(HttpSessionTest, AClientThatWantsToCloseIsClosed) {
  Send(Get("/healthz", "Connection: close\r\n"));
  EXPECT_EQ(progress_.then, Then::kClose);
  Send(Get("/healthz"));
  EXPECT_EQ(progress_.then, Then::kGoOn);
}

TEST_F(HttpSessionTest, MetricsComeInPiecesAndOtherRequestsFollow) {
  std::string rules;
  for (int i = 0; i < 1000; ++i) rules += "- {name: r" + std::to_string(i) + ", limit: 1/min}\n";
  Use(rules);
  const MetricsSources sources{.checker = &checker_};
  options_.metrics = &sources;
  const std::string ask = Get("/metrics");
  const std::string bytes = ask + Get("/healthz");
  std::string all = Send(bytes);
  EXPECT_THAT(all, HasSubstr("Transfer-Encoding: chunked\r\n"));
  int pieces = 1;
  for (; progress_.then == Then::kAgain; ++pieces) {
    ASSERT_EQ(progress_.consumed, 0U) << "it is unread until it is answered";
    std::string out;
    progress_ = session_->Serve(bytes, kStart, out);
    EXPECT_LT(out.size(), 2 * MetricsReply::kPiece);
    all += out;
  }
  EXPECT_GT(pieces, 2);
  EXPECT_EQ(progress_.consumed, bytes.size());
  EXPECT_THAT(all, HasSubstr("\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(all, HasSubstr("rule=\"r999\",outcome=\"denied\"} 0\n"));
}

TEST_F(HttpSessionTest, HeadOfMetricsHasNoBodyAndWithoutSourcesThereIsNoPage) {
  EXPECT_THAT(Send(Get("/metrics")), StartsWith("HTTP/1.1 404"));
  EXPECT_EQ(progress_.requests, 1U);
  EXPECT_EQ(progress_.errors, 1U);
  const MetricsSources sources{.checker = &checker_};
  options_.metrics = &sources;
  const std::string head = Send("HEAD /metrics HTTP/1.1\r\nHost: weir\r\n\r\n");
  EXPECT_THAT(head, StartsWith("HTTP/1.1 200"));
  EXPECT_TRUE(head.ends_with("\r\n\r\n"));
  EXPECT_THAT(head, Not(HasSubstr("weir_")));
  EXPECT_EQ(progress_.errors, 0U);
}

TEST_F(HttpSessionTest, RequestsAndMistakesAreCountedPerRead) {
  Use("- {name: a, limit: blocked}");
  Send(Get("/check") + Get("/nowhere") + Post("/v1/check", "not json") + Get("/v1/check") +
       Get("/healthz") + "GET /che");
  EXPECT_EQ(progress_.requests, 5U);
  EXPECT_EQ(progress_.errors, 3U) << "a refusal is no mistake";
}

TEST_F(HttpSessionTest, APeekTakesNothingAndBansNobody) {
  Use("- {name: api, by: [user], limit: fixed_window 1/min, exceed: ban 1h}");
  const auto ask = [&](const std::string& call) {
    return Send(Post(call, R"({"namespace":"shop","attributes":{"user":"7"},"cost":1})"));
  };
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(ask("/v1/peek"), HasSubstr(R"({"allowed":true,"rule":"api","remaining":1,)"));
  }
  EXPECT_THAT(ask("/v1/check"), HasSubstr(R"({"allowed":true,"rule":"api","remaining":0,)"));
  EXPECT_THAT(ask("/v1/peek"), HasSubstr(R"("retry_after_ms":60000)"));
  EXPECT_THAT(ask("/v1/peek"), Not(HasSubstr("banned")));
  EXPECT_THAT(ask("/v1/check"), HasSubstr(R"("retry_after_ms":3600000)"));
  EXPECT_THAT(ask("/v1/peek"), HasSubstr("banned"));
}

TEST_F(HttpSessionTest, APeekIsToldHowLongItWouldWait) {
  Use("- {name: api, by: [user], limit: token_bucket 1/10s, exceed: delay 15s}");
  const auto ask = [&](const std::string& call) {
    return Send(Post(call, R"({"namespace":"shop","attributes":{"user":"7"}})"));
  };
  EXPECT_THAT(ask("/v1/check"), HasSubstr(R"("wait_ms":0)"));
  EXPECT_THAT(ask("/v1/peek"), HasSubstr(R"("wait_ms":10000)"));
  EXPECT_THAT(ask("/v1/check"), HasSubstr(R"("wait_ms":10000)"));
  EXPECT_THAT(ask("/v1/peek"), HasSubstr(R"("allowed":false)"));
}

TEST_F(HttpSessionTest, EveryDecisionIsNamedAndNothingElseIs) {
  Use("- {name: a, match: {path: /a}, limit: 1/min}\n"
      "- {name: b, match: {path: /b}, limit: 1/min, mode: shadow}\n"
      "- {name: c, match: {path: /c}, limit: blocked, status: 503}");
  const auto decision = [](const std::string& name) {
    return HasSubstr("\r\nX-Weir-Decision: " + name + "\r\nCache-Control: no-store\r\n");
  };
  EXPECT_THAT(Send(Get("/check/a")), decision("allow"));
  EXPECT_THAT(Send(Get("/check/a")), decision("deny"));
  EXPECT_THAT(Send(Get("/check/b")), decision("allow"));
  EXPECT_THAT(Send(Get("/check/b")), AllOf(StartsWith("HTTP/1.1 200"), decision("shadow-deny")));
  EXPECT_THAT(Send(Get("/check/c")), AllOf(StartsWith("HTTP/1.1 503"), decision("deny")));
  EXPECT_THAT(Send(Get("/check/none")), decision("allow"));
  for (const char* wrong : {"/check\x7f", "/", "/healthz"}) {
    EXPECT_THAT(Send(Get(wrong)), Not(HasSubstr("X-Weir-Decision"))) << wrong;
  }
  EXPECT_THAT(Send(Get("/check/a", "X-Weir-Cost: much\r\n")), Not(HasSubstr("X-Weir-Decision")));
}

TEST_F(HttpSessionTest, APeekTakesNothing) {
  Use("- {name: a, match: {path: /a}, limit: 1/min}");
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(Send(Get("/peek/a")), AllOf(StartsWith("HTTP/1.1 200"), HasSubstr("\"a\";r=1")));
  }
  EXPECT_THAT(Send(Get("/peek", "X-Forwarded-Uri: /a\r\n")), HasSubstr("\"a\";r=1"));
  EXPECT_THAT(Send(Post("/v1/peek", "{\"namespace\":\"shop\",\"attributes\":{\"path\":\"/a\"}}")),
              HasSubstr("\"allowed\":true,\"rule\":\"a\",\"remaining\":1"));
  EXPECT_THAT(Send(Get("/check/a")), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Send(Get("/peek/a")),
              AllOf(StartsWith("HTTP/1.1 429"), HasSubstr("Retry-After: 60")));
  // What looks like one in the client's own request is none.
  EXPECT_THAT(Send(Get("/check/a?peek=1")), StartsWith("HTTP/1.1 429"));
  EXPECT_THAT(Send(Get("/peeking")), StartsWith("HTTP/1.1 404"));
}

TEST_F(HttpSessionTest, APeekAtWhatWouldHaveToWaitIsAnsweredAtOnce) {
  Use("- {name: slow, limit: 1/s, exceed: delay 1s}");
  EXPECT_THAT(Send(Get("/check")), StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(Send(Get("/peek")), StartsWith("HTTP/1.1 200"));
  EXPECT_EQ(progress_.then, Then::kGoOn);
  Send(Get("/check"));
  EXPECT_EQ(progress_.then, Then::kHold);
}

TEST_F(HttpSessionTest, AnyMethodMayAskAndHeadGetsNoBody) {
  Use("- {name: a, limit: 4/min}");
  for (const char* method : {"GET", "OPTIONS", "PROPFIND", "HEAD"}) {
    EXPECT_THAT(Send(std::string(method) + " /check HTTP/1.1\r\nHost: weir\r\n\r\n"),
                StartsWith("HTTP/1.1 200"));
  }
  const std::string refused = Send("HEAD /check HTTP/1.1\r\nHost: weir\r\n\r\n");
  EXPECT_THAT(refused, AllOf(StartsWith("HTTP/1.1 429"), HasSubstr("Retry-After: ")));
  EXPECT_EQ(refused.substr(refused.size() - 4), "\r\n\r\n");
}

TEST_F(HttpSessionTest, AGatewayIsAnsweredBeforeTheBodyComes) {
  Use("- {name: a, limit: 1/min}");
  const std::string head =
      "POST /check HTTP/1.1\r\nHost: weir\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n";
  EXPECT_THAT(Send(head), StartsWith("HTTP/1.1 200"));
  EXPECT_TRUE(session_->is_in_request());
  std::string out;
  EXPECT_EQ(session_->Serve("body" + Get("/check"), kStart, out).consumed,
            4 + Get("/check").size());
  EXPECT_THAT(out, StartsWith("HTTP/1.1 429"));
}

// One connection that learns what its requests look like, and one for each request: the same
// answers, also when the rules ask for other things meanwhile.
TEST_F(HttpSessionTest, ManyRequestsOnOneConnectionAreAnsweredAsEachByItself) {
  const std::vector<std::string> fields = {"X-Forwarded-Uri: /a?q=1",
                                           "X-Forwarded-Uri: /b%20c",
                                           "X-Forwarded-Method: POST",
                                           "X-Original-Uri: /d",
                                           "X-Forwarded-For: 203.0.113.7",
                                           "X-Forwarded-For: 203.0.113.8, 10.0.0.3",
                                           "X-Plan: pro",
                                           "x-plan: free",
                                           "X-Api-Key: k",
                                           "Cookie: s=1",
                                           "X-Weir-Cost: 2",
                                           "X-Weir-Namespace: shop",
                                           "X-Weir-Namespace: other"};
  const std::vector<std::string> rules = {
      "- {name: a, by: [ip], limit: 1000/h}\n- {name: b, by: [header.x-plan], limit: 2000/h}",
      "- {name: a, by: [header.x-api-key], limit: 300/h}\n- {name: c, match: {path: /a}, "
      "by: [header.x-plan, cookie.s, query.q], limits: [900/h, 50/s]}",
      "- {name: d, match: {path: '/b c', method: POST}, limit: 10/h}"};
  Checker others(std::move(Ledger::Open({.max_keys = 1000})).value(), {});
  for (const char* peer : {"10.0.0.1", "203.0.113.1"}) {
    HttpSession one(checker_, options_, AddressOf(peer), std::nullopt);
    unsigned random = 1;
    const auto pick = [&random](std::size_t below) {
      random = random * 1'103'515'245 + 12'345;
      return random / 65'536 % below;
    };
    std::vector<std::size_t> kind;
    for (int i = 0; i < 600; ++i) {
      if (i == 0 || i % 10 == 5) {  // amid requests that are alike
        rule::Problems problems;
        const std::string text = "namespace: shop\nrules:\n" + rules[i / 10 % rules.size()];
        for (Checker* checker : {&checker_, &others}) {
          auto set = rule::ReadRules(text, "test.yaml", problems);
          ASSERT_TRUE(checker->Publish({std::move(*set)}, "test").empty());
        }
      }
      if (i % 10 == 0) {
        kind.clear();
        for (std::size_t count = pick(7); count > 0; --count) kind.push_back(pick(fields.size()));
      }
      std::string lines;
      for (const std::size_t field : kind) lines += fields[field] + "\r\n";
      const std::string ask = Get(i % 3 == 0 ? "/check" : "/check/a", lines);
      std::string together;
      std::string alone;
      one.Serve(ask, kStart, together);
      HttpSession(others, options_, AddressOf(peer), std::nullopt).Serve(ask, kStart, alone);
      ASSERT_EQ(together, alone) << ask;
    }
  }
}

TEST_F(HttpSessionTest, EveryAnswerHasItsDate) {
  Use("- {name: a, limit: 1/min}");
  for (const char* target : {"/check", "/check", "/healthz", "/nowhere"}) {
    EXPECT_THAT(Send(Get(target)), HasSubstr("\r\nDate: Mon, 01 Jun 2026 12:00:00 GMT\r\n"))
        << target;
  }
}

}  // namespace
}  // namespace weir
