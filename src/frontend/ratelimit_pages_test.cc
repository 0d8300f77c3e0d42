#include "frontend/ratelimit_pages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "frontend/http_session.h"
#include "rule/any_file.h"

namespace weir {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr Instant kNoon{std::chrono::seconds(1'780'315'200)};

class RateLimitPagesTest : public testing::Test {
 protected:
  void Use(const std::string& file) {
    rule::Problems problems;
    auto set = rule::ReadAnyRules(file, "test.yaml", problems);
    ASSERT_TRUE(set.has_value()) << problems[0].ToString();
    ASSERT_TRUE(checker_.Publish({std::move(*set)}, "test").empty());
  }
  RateLimitPage Json(const std::string& body) {
    DescriptorReply reply;
    return AnswerRateLimitJson(checker_, options_, body, kNoon, reply);
  }
  // What a connection is told.
  std::string Send(const std::string& bytes, const HttpOptions& options = {},
                   std::optional<const char*> peer = {}) {
    std::optional<rule::Address> address;
    if (peer) address = rule::Address::Parse(*peer);
    HttpSession session(checker_, options, address, std::nullopt);
    std::string out;
    session.Serve(bytes, kNoon, out);
    return out;
  }

  Checker checker_{std::move(Ledger::Open({.max_keys = 1000})).value(), {}};
  RateLimitOptions options_;
};

TEST_F(RateLimitPagesTest, JsonIsAnsweredByJsonAndTheStatusSaysTheCode) {
  Use("domain: shop\ndescriptors:\n"
      "- {key: perday, rate_limit: {unit: day, requests_per_unit: 1}}\n");
  const std::string body =
      R"({"domain": "shop", "descriptors": [{"entries": [{"key": "perday"}]}]})";
  RateLimitPage page = Json(body);
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.content_type, "application/json");
  EXPECT_EQ(page.body, R"({"overallCode":"OK","statuses":[{"code":"OK","currentLimit":)"
                       R"({"requestsPerUnit":1,"unit":"DAY"},"durationUntilReset":"43200s"}]})");
  page = Json(body);
  EXPECT_EQ(page.status, 429);
  EXPECT_THAT(page.body, StartsWith(R"({"overallCode":"OVER_LIMIT")"));
}

TEST_F(RateLimitPagesTest, EveryMistakeIsABadRequestThatSaysWhy) {
  EXPECT_THAT(Json(R"({"domain": "shop", "descriptors": [{}]})").body,
              HasSubstr("no rate limit configuration loaded"));
  Use("domain: shop\n");
  EXPECT_EQ(Json("").status, 400);
  EXPECT_EQ(Json("not JSON").status, 400);
  EXPECT_EQ(Json(R"({"domain": "shop", "unknown": 1})").status, 400);
  EXPECT_EQ(Json(R"({"domain": "shop"})").status, 400);
  EXPECT_EQ(Json(R"({"domain": "shop"})").body,
            "Bad Request: rate limit descriptor list must not be empty\n");
  EXPECT_EQ(Json(std::string(100'000, '[')).status, 400);
  EXPECT_EQ(Json(R"({"domain": "shop", "descriptors": [{}]})").status, 200);
}

TEST_F(RateLimitPagesTest, TheLimitsInForceAreALineEach) {
  Use(R"(
domain: shop
descriptors:
  - key: path
    value: /login
    descriptors:
      - {key: remote_address, rate_limit: {unit: minute, requests_per_unit: 5}}
  - {key: path, shadow_mode: true, rate_limit: {unit: second, requests_per_unit: 0}}
  - {key: a, value: "b*", quota_mode: true, rate_limit: {unit: week, requests_per_unit: 7}}
  - {key: partner, rate_limit: {unlimited: true}}
  - {key: health}
)");
  EXPECT_EQ(RateLimitConfig(*checker_.rules()->book).body,
            "shop.path_/login.remote_address: unit=MINUTE requests_per_unit=5, "
            "shadow_mode: false, quota_mode: false\n"
            "shop.path: unit=SECOND requests_per_unit=0, shadow_mode: true, quota_mode: false\n"
            "shop.a_b*: unit=WEEK requests_per_unit=7, shadow_mode: false, quota_mode: true\n"
            "shop.partner: unit=UNKNOWN requests_per_unit=0, shadow_mode: false, "
            "quota_mode: false\n");
}

TEST_F(RateLimitPagesTest, AConnectionIsToldThemAtTheirPaths) {
  Use("domain: shop\ndescriptors:\n"
      "- {key: k, rate_limit: {unit: day, requests_per_unit: 1}}\n");
  const std::string body = R"({"domain":"shop","descriptors":[{"entries":[{"key":"k"}]}]})";
  const std::string asked =
      "POST /json HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body.size()) +
      "\r\n\r\n" + body;
  EXPECT_THAT(Send(asked + asked),
              AllOf(StartsWith("HTTP/1.1 200 "), HasSubstr("\r\n\r\n{\"overallCode\":\"OK\""),
                    HasSubstr("HTTP/1.1 429 ")));
  // Without a body there is nothing left of the one before.
  EXPECT_THAT(Send(asked + "POST /json HTTP/1.1\r\nHost: x\r\n\r\n"), HasSubstr("HTTP/1.1 400 "));
  EXPECT_THAT(Send("GET /rlconfig HTTP/1.1\r\nHost: x\r\n\r\n"),
              EndsWith("shop.k: unit=DAY requests_per_unit=1, shadow_mode: false, "
                       "quota_mode: false\n"));
  EXPECT_THAT(Send("GET /rlconfig HTTP/1.1\r\nHost: x\r\n\r\n", {}, "192.0.2.1"),
              StartsWith("HTTP/1.1 403 "));
}

TEST_F(RateLimitPagesTest, HealthGoesWithReadiness) {
  std::atomic<bool> ready{true};
  HttpOptions options;
  options.ready = &ready;
  constexpr const char* kAsked = "GET /healthcheck HTTP/1.1\r\nHost: x\r\n\r\n";
  EXPECT_THAT(Send(kAsked, options), AllOf(StartsWith("HTTP/1.1 200 "), EndsWith("\r\n\r\nOK")));
  ready = false;
  EXPECT_THAT(Send(kAsked, options), AllOf(StartsWith("HTTP/1.1 500 "), EndsWith("\r\n\r\n")));
}

}  // namespace
}  // namespace weir
