#include "frontend/should_rate_limit.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/json_util.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string>
#include <utility>

#include "envoy/service/ratelimit/v3/rls.pb.h"
#include "rule/any_file.h"

namespace weir {
namespace {

using envoy::service::ratelimit::v3::RateLimitRequest;
using envoy::service::ratelimit::v3::RateLimitResponse;
using google::protobuf::util::JsonStringToMessage;
using std::chrono::milliseconds;
using testing::IsEmpty;
using wire::GrpcCode;
using wire::GrpcStatus;

// Noon on a day in 2026, and a little more.
constexpr Instant kNow{std::chrono::seconds(1'780'315'200) + milliseconds(400)};

constexpr const char* kFile = R"(
domain: shop
descriptors:
  - key: user
    rate_limit: {unit: minute, requests_per_unit: 3, name: per_user}
    metadata: {team: {name: a, size: 3}, kept: true}
  - key: path
    rate_limit: {unit: day, requests_per_unit: 100}
    metadata: {team: {name: b, lead: ann}, other: [1, x]}
  - key: partner
    rate_limit: {unlimited: true}
)";

class ShouldRateLimitTest : public testing::Test {
 protected:
  ShouldRateLimitTest()
      : checker_(std::move(Ledger::Open({.max_keys = 10'000})).value(), {}),
        method_(std::in_place, checker_, options_) {}

  void Use(const std::string& file = kFile) {
    rule::Problems problems;
    const auto set = rule::ReadAnyRules(file, "test.yaml", problems);
    ASSERT_TRUE(set.has_value());
    ASSERT_THAT(checker_.Publish({*set}, "test"), IsEmpty());
  }
  static std::string Request(const std::string& json) {
    RateLimitRequest request;
    EXPECT_TRUE(JsonStringToMessage(json, &request).ok()) << json;
    return request.SerializeAsString();
  }
  // What is said to a request in JSON, as JSON without blanks.
  std::string Ask(const std::string& json) {
    std::string bytes;
    const GrpcStatus status = method_->Answer(Request(json), kNow, bytes);
    EXPECT_EQ(status, GrpcStatus{});
    return ToJson(bytes);
  }
  static std::string ToJson(const std::string& bytes) {
    RateLimitResponse response;
    EXPECT_TRUE(response.ParseFromString(bytes));
    std::string text;
    EXPECT_TRUE(google::protobuf::util::MessageToJsonString(response, &text).ok());
    return text;
  }
  GrpcStatus Refused(std::string_view message) {
    std::string bytes = "before";
    GrpcStatus status = method_->Answer(message, kNow, bytes);
    EXPECT_EQ(bytes, "before");
    return status;
  }

  Checker checker_;
  RateLimitOptions options_;
  std::optional<RateLimitMethod> method_;
};

TEST_F(ShouldRateLimitTest, SaysWhereEachDescriptorStands) {
  Use();
  constexpr const char* kAsked = R"({"domain": "shop", "descriptors": [
      {"entries": [{"key": "user", "value": "ann"}]},
      {"entries": [{"key": "partner", "value": "acme"}]},
      {"entries": [{"key": "nothing"}]}]})";
  EXPECT_EQ(Ask(kAsked),
            R"({"overallCode":"OK","statuses":[{"code":"OK","currentLimit":{"requestsPerUnit":3,)"
            R"("unit":"MINUTE","name":"per_user"},"limitRemaining":2,"durationUntilReset":"60s"},)"
            R"({"code":"OK","limitRemaining":4294967295},{"code":"OK"}]})");
  for (int i = 0; i < 2; ++i) Ask(kAsked);
  EXPECT_EQ(Ask(kAsked),
            R"({"overallCode":"OVER_LIMIT","statuses":[{"code":"OVER_LIMIT","currentLimit":)"
            R"({"requestsPerUnit":3,"unit":"MINUTE","name":"per_user"},)"
            R"("durationUntilReset":"60s"},)"
            R"({"code":"OK","limitRemaining":4294967295},{"code":"OK"}]})");
}

TEST_F(ShouldRateLimitTest, ReadsHitsOverridesAndHitsGivenBack) {
  Use();
  EXPECT_EQ(Ask(R"({"domain": "shop", "hitsAddend": 7, "descriptors": [
                 {"entries": [{"key": "path", "value": "/"}]},
                 {"entries": [{"key": "path", "value": "/"}], "hitsAddend": "0"},
                 {"entries": [{"key": "path", "value": "/"}], "hitsAddend": "3"},
                 {"entries": [{"key": "path", "value": "/"}], "hitsAddend": "5",
                  "isNegativeHits": true},
                 {"entries": [{"key": "path", "value": "/"}], "limit":
                  {"requestsPerUnit": 8, "unit": "WEEK"}}]})"),
            R"({"overallCode":"OK","statuses":[)"
            R"({"code":"OK","currentLimit":{"requestsPerUnit":100,"unit":"DAY"},)"
            R"("limitRemaining":93,"durationUntilReset":"43200s"},)"
            R"({"code":"OK","currentLimit":{"requestsPerUnit":100,"unit":"DAY"},)"
            R"("limitRemaining":93,"durationUntilReset":"43200s"},)"
            R"({"code":"OK","currentLimit":{"requestsPerUnit":100,"unit":"DAY"},)"
            R"("limitRemaining":90,"durationUntilReset":"43200s"},)"
            R"({"code":"OK","currentLimit":{"requestsPerUnit":100,"unit":"DAY"},)"
            R"("limitRemaining":95,"durationUntilReset":"43200s"},)"
            R"({"code":"OK","currentLimit":{"requestsPerUnit":8,"unit":"WEEK"},)"
            R"("limitRemaining":1,"durationUntilReset":"216000s"}]})");
}

TEST_F(ShouldRateLimitTest, AnUnknownDomainPasses) {
  Use();
  EXPECT_EQ(Ask(R"({"domain": "x", "descriptors": [{"entries": [{"key": "user"}]}, {}]})"),
            R"({"overallCode":"OK","statuses":[{"code":"OK"},{"code":"OK"}]})");
}

TEST_F(ShouldRateLimitTest, RefusesInTheWordsThatClientsKnow) {
  const std::string sound = Request(R"({"domain": "shop", "descriptors": [{}]})");
  EXPECT_EQ(Refused(sound), (GrpcStatus{GrpcCode::kUnknown, "no rate limit configuration loaded"}));
  Use();
  EXPECT_EQ(Refused(""), (GrpcStatus{GrpcCode::kUnknown, "rate limit domain must not be empty"}));
  EXPECT_EQ(Refused(Request(R"({"domain": "shop"})")),
            (GrpcStatus{GrpcCode::kUnknown, "rate limit descriptor list must not be empty"}));
  EXPECT_EQ(Refused("not protobuf").code, GrpcCode::kInternal);
  EXPECT_THAT(Refused(sound.substr(0, sound.size() - 1)).message,
              testing::StartsWith("grpc: error unmarshalling request: "));
}

TEST_F(ShouldRateLimitTest, ALimitWithoutAUnitIsTheCallersMistake) {
  Use();
  const GrpcStatus status = Refused(
      Request(R"({"domain": "shop", "descriptors": [{}, {"limit": {"requestsPerUnit": 1}}]})"));
  EXPECT_EQ(status.code, GrpcCode::kInvalidArgument);
  EXPECT_THAT(status.message, testing::HasSubstr("descriptor 1"));
  RateLimitRequest strange;
  strange.set_domain("shop");
  strange.add_descriptors()->mutable_limit()->set_unit(
      static_cast<envoy::type::v3::RateLimitUnit>(8));
  EXPECT_EQ(Refused(strange.SerializeAsString()).code, GrpcCode::kInvalidArgument);
}

TEST_F(ShouldRateLimitTest, TextThatIsNotUtf8IsRefusedAndNulIsText) {
  Use();
  using std::string_literals::operator""s;
  EXPECT_EQ(Refused("\x0A\x01\xFF\x12\x00"s).code, GrpcCode::kInternal);
  EXPECT_EQ(Refused("\x0A\x01x\x12\x05\x0A\x03\x0A\x01\xC3"s).code, GrpcCode::kInternal);
  std::string response;
  EXPECT_TRUE(method_->Answer("\x0A\x01x\x12\x05\x0A\x03\x0A\x01\x00"s, kNow, response).ok());
}

TEST_F(ShouldRateLimitTest, MessagesThatComeInPiecesAreMerged) {
  Use();
  // The limit's number in one field, its unit in the next; and a domain that is said twice.
  RateLimitRequest request;
  request.set_domain("elsewhere");
  request.add_descriptors();
  request.mutable_descriptors(0)->mutable_limit()->set_requests_per_unit(9);
  std::string descriptor = request.descriptors(0).SerializeAsString();
  request.mutable_descriptors(0)->mutable_limit()->clear_requests_per_unit();
  request.mutable_descriptors(0)->mutable_limit()->set_unit(envoy::type::v3::HOUR);
  descriptor += request.descriptors(0).SerializeAsString();
  request.clear_descriptors();
  std::string bytes = request.SerializeAsString() + '\x12' + static_cast<char>(descriptor.size()) +
                      descriptor + "\x0A\x04shop";
  std::string response;
  ASSERT_TRUE(method_->Answer(bytes, kNow, response).ok());
  EXPECT_THAT(ToJson(response), testing::HasSubstr(R"("requestsPerUnit":9,"unit":"HOUR")"));
}

TEST_F(ShouldRateLimitTest, NothingThatIsSentGrowsMemoryWithoutBound) {
  Use();
  const auto with = [](std::size_t descriptors, std::size_t entries) {
    RateLimitRequest request;
    request.set_domain("shop");
    for (std::size_t i = 0; i < descriptors; ++i) request.add_descriptors();
    for (std::size_t i = 0; i < entries; ++i) request.mutable_descriptors(0)->add_entries();
    return request.SerializeAsString();
  };
  std::string response;
  EXPECT_TRUE(method_->Answer(with(256, 4096), kNow, response).ok());
  EXPECT_EQ(Refused(with(257, 0)).code, GrpcCode::kResourceExhausted);
  EXPECT_EQ(Refused(with(1, 4097)).code, GrpcCode::kResourceExhausted);
}

TEST_F(ShouldRateLimitTest, HeadersAreThoseOfTheDescriptorClosestToItsLimit) {
  Use();
  options_.response_headers = true;
  options_.reset_header = "x-reset";
  constexpr const char* kBoth = R"({"domain": "shop", "descriptors": [
      {"entries": [{"key": "path", "value": "/"}]},
      {"entries": [{"key": "user", "value": "ann"}]}]})";
  EXPECT_THAT(Ask(kBoth),
              testing::HasSubstr(R"("responseHeadersToAdd":[{"key":"RateLimit-Limit","value":"3"},)"
                                 R"({"key":"RateLimit-Remaining","value":"2"},)"
                                 R"({"key":"x-reset","value":"60"}])"));
  EXPECT_THAT(Ask(R"({"domain": "shop", "descriptors": [{}]})"),
              testing::Not(testing::HasSubstr("responseHeadersToAdd")));
}

TEST_F(ShouldRateLimitTest, InShadowModeTheServerSaysOkAndTheStatusesTheTruth) {
  Use();
  options_.modes.shadow_mode = true;
  method_.emplace(checker_, options_);
  const std::string said = Ask(R"({"domain": "shop", "hitsAddend": 4,
      "descriptors": [{"entries": [{"key": "user", "value": "ann"}]}]})");
  EXPECT_THAT(said, testing::StartsWith(R"({"overallCode":"OK","statuses":[{"code":"OVER_LIMIT")"));
}

TEST_F(ShouldRateLimitTest, DynamicMetadataTellsWhatWasAskedAndWhatPassed) {
  Use();
  options_.dynamic_metadata = true;
  const auto metadata_of = [&](const std::string& json) {
    std::string bytes;
    EXPECT_TRUE(method_->Answer(Request(json), kNow, bytes).ok());
    RateLimitResponse response;
    EXPECT_TRUE(response.ParseFromString(bytes));
    return response.dynamic_metadata();
  };
  const auto expect = [](const google::protobuf::Struct& told, const std::string& json) {
    google::protobuf::Struct expected;
    ASSERT_TRUE(JsonStringToMessage(json, &expected).ok()) << json;
    EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(told, expected))
        << told.DebugString();
  };
  expect(metadata_of(R"({"domain": "shop", "hitsAddend": 2, "descriptors": [
             {"entries": [{"key": "user", "value": "ann"}], "hitsAddend": "1"},
             {"entries": [{"key": "path", "value": "/"}]},
             {"entries": [{"key": "a"}, {"key": "b", "value": "c"}],
              "limit": {"requestsPerUnit": 5, "unit": "MINUTE"}}]})"),
         R"({"domain": "shop", "hitsAddend": 2, "descriptors": [
             {"entries": ["user=ann"], "hitsAddend": 1}, {"entries": ["path=/"]},
             {"entries": ["a=", "b=c"], "limit": "requests_per_unit:5 unit:MINUTE"}],
             "metadata": {"team": {"name": "a", "size": 3, "lead": "ann"}, "kept": true,
                          "other": [1, "x"]}})");
  // That of a rule whose descriptor is over its limit is not told.
  expect(metadata_of(R"({"domain": "shop", "descriptors": [
             {"entries": [{"key": "user", "value": "ann"}], "hitsAddend": "9"}]})"),
         R"({"domain": "shop", "descriptors": [{"entries": ["user=ann"], "hitsAddend": 9}]})");
}

TEST_F(ShouldRateLimitTest, BytesOfAnyKindAreAnsweredAsLibprotobufUnderstandsThem) {
  Use();
  const std::string sound = Request(R"({"domain": "shop", "hitsAddend": 7, "descriptors": [
      {"entries": [{"key": "path", "value": "/"}], "hitsAddend": "3"},
      {"entries": [{"key": "user", "value": "bob"}], "limit":
       {"requestsPerUnit": 8, "unit": "WEEK"}, "isNegativeHits": true}]})");
  std::mt19937 random(11);
  std::size_t answered = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = sound.substr(0, random() % (sound.size() + 1));
    if (round % 4 == 0) bytes = sound;
    if (!bytes.empty()) bytes[random() % bytes.size()] = static_cast<char>(random() % 0x80);
    std::string response;
    const GrpcStatus status = method_->Answer(bytes, kNow, response);
    RateLimitRequest request;
    EXPECT_EQ(status.code != GrpcCode::kInternal, request.ParseFromString(bytes));
    if (!status.ok()) continue;
    ++answered;
    RateLimitResponse parsed;
    ASSERT_TRUE(parsed.ParseFromString(response));
    EXPECT_EQ(parsed.statuses_size(), request.descriptors_size());
  }
  EXPECT_GT(answered, 1000U);
}

}  // namespace
}  // namespace weir
