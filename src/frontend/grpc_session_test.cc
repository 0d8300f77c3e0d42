#include "frontend/grpc_session.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <string>

#include "envoy/service/ratelimit/v3/rls.pb.h"
#include "grpc/health/v1/health.pb.h"
#include "grpc/reflection/v1/reflection.pb.h"
#include "limiter/ledger.h"
#include "rule/any_file.h"
#include "tests/grpc_test_client.h"

namespace weir {
namespace {

using envoy::service::ratelimit::v3::RateLimitRequest;
using envoy::service::ratelimit::v3::RateLimitResponse;
using grpc::health::v1::HealthCheckRequest;
using grpc::health::v1::HealthCheckResponse;
using grpc::reflection::v1::ServerReflectionRequest;
using grpc::reflection::v1::ServerReflectionResponse;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;

constexpr std::string_view kCheck = "/grpc.health.v1.Health/Check";
constexpr std::string_view kWatch = "/grpc.health.v1.Health/Watch";
constexpr std::string_view kReflect = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
constexpr std::string_view kReflectAlpha =
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";

class GrpcSessionTest : public testing::Test {
 protected:
  GrpcSessionTest() : checker_(Ledger::Open({.max_keys = 1000}).value(), CheckerOptions{}) {
    options_.ready = &ready_;
    rule::Problems problems;
    const auto rules = rule::ReadAnyRules(
        "domain: shop\ndescriptors: [{key: a, rate_limit: {unit: hour, requests_per_unit: 1}}]",
        "t", problems);
    EXPECT_TRUE(checker_.Publish({*rules}, "1").empty());
    session_ = std::make_unique<GrpcSession>(checker_, options_);
  }
  void Exchange() {
    std::string out;
    session_->Serve(client_.Bytes(), now_, out);
    client_.Hear(out);
  }
  const GrpcHeard& Call(std::string_view path, const google::protobuf::Message& message) {
    const std::int32_t id = client_.Call(path, message.SerializeAsString());
    Exchange();
    return client_.heard(id);
  }
  const GrpcHeard& CallHealth(std::string_view path, const std::string& service) {
    HealthCheckRequest request;
    request.set_service(service);
    return Call(path, request);
  }
  ServerReflectionResponse Reflect(const ServerReflectionRequest& request,
                                   std::string_view path = kReflect) {
    const GrpcHeard& heard = Call(path, request);
    EXPECT_EQ(heard.field("grpc-status"), "0") << heard.field("grpc-message");
    ServerReflectionResponse response;
    EXPECT_EQ(heard.messages().size(), 1);
    EXPECT_TRUE(response.ParseFromString(heard.messages().at(0)));
    return response;
  }
  static HealthCheckResponse::ServingStatus StatusIn(const std::string& message) {
    HealthCheckResponse response;
    EXPECT_TRUE(response.ParseFromString(message));
    return response.status();
  }

  std::atomic<bool> ready_{true};
  Checker checker_;
  GrpcOptions options_;
  std::unique_ptr<GrpcSession> session_;
  GrpcTestClient client_;
  Instant now_ = Instant(std::chrono::hours(1));
};

TEST_F(GrpcSessionTest, ShouldRateLimitAnswersEachDescriptor) {
  RateLimitRequest request;
  request.set_domain("shop");
  for (int i = 0; i < 2; ++i) {
    auto& entry = *request.add_descriptors()->add_entries();
    entry.set_key("a");
    entry.set_value("b");
  }
  const GrpcHeard& heard = Call(RateLimitMethod::kPath, request);
  EXPECT_EQ(heard.field("grpc-status"), "0") << heard.field("grpc-message");
  RateLimitResponse response;
  ASSERT_TRUE(response.ParseFromString(heard.messages().at(0)));
  ASSERT_EQ(response.statuses_size(), 2);
  EXPECT_EQ(response.overall_code(), RateLimitResponse::OVER_LIMIT);
  EXPECT_EQ(response.statuses(0).code(), RateLimitResponse::OK);
  EXPECT_EQ(response.statuses(1).code(), RateLimitResponse::OVER_LIMIT);
}

TEST_F(GrpcSessionTest, WhatShouldRateLimitRefusesHasNoMessage) {
  const GrpcHeard& heard = Call(RateLimitMethod::kPath, RateLimitRequest());
  EXPECT_EQ(heard.field("grpc-status"), "2");
  EXPECT_THAT(heard.field("grpc-message"), HasSubstr("domain must not be empty"));
  EXPECT_EQ(heard.body, "");
}

TEST_F(GrpcSessionTest, HealthIsThatOfTheServer) {
  for (const char* service : {"", "ratelimit", "envoy.service.ratelimit.v3.RateLimitService"}) {
    ready_ = true;
    EXPECT_EQ(StatusIn(CallHealth(kCheck, service).messages().at(0)), HealthCheckResponse::SERVING);
    ready_ = false;
    EXPECT_EQ(StatusIn(CallHealth(kCheck, service).messages().at(0)),
              HealthCheckResponse::NOT_SERVING);
  }
  const GrpcHeard& unknown = CallHealth(kCheck, "other");
  EXPECT_EQ(unknown.field("grpc-status"), "5");
  EXPECT_EQ(unknown.field("grpc-message"), "there is no service 'other' here");
}

TEST_F(GrpcSessionTest, WatchersAreToldWhatChangesUntilTheServerEnds) {
  const GrpcHeard& known = CallHealth(kWatch, "ratelimit");
  const GrpcHeard& unknown = CallHealth(kWatch, "other");
  ready_ = false;
  client_.Ping();
  Exchange();
  ready_ = true;
  client_.Ping();
  Exchange();
  client_.Ping();
  Exchange();
  EXPECT_EQ(known.messages().size(), 3);  // only what changed
  EXPECT_FALSE(known.ended);
  session_->Leave();
  std::string out;
  session_->Write(out);
  client_.Hear(out);
  std::vector<HealthCheckResponse::ServingStatus> told;
  for (const std::string& message : known.messages()) told.push_back(StatusIn(message));
  EXPECT_THAT(told, ElementsAre(HealthCheckResponse::SERVING, HealthCheckResponse::NOT_SERVING,
                                HealthCheckResponse::SERVING, HealthCheckResponse::NOT_SERVING));
  EXPECT_EQ(known.field("grpc-status"), "14");
  ASSERT_EQ(unknown.messages().size(), 1);
  EXPECT_EQ(StatusIn(unknown.messages()[0]), HealthCheckResponse::SERVICE_UNKNOWN);
  EXPECT_EQ(unknown.field("grpc-status"), "14");
  EXPECT_EQ(client_.farewell(), NGHTTP2_NO_ERROR);
}

TEST_F(GrpcSessionTest, AWatcherIsToldWithoutAskingAgain) {
  const GrpcHeard& heard = CallHealth(kWatch, "");
  const auto news = [this] {
    std::string out;
    session_->TellNews(out);
    return out;
  };
  EXPECT_EQ(news(), "") << "nothing is new";
  ready_ = false;
  client_.Hear(news());
  ASSERT_EQ(heard.messages().size(), 2);
  EXPECT_EQ(StatusIn(heard.messages()[1]), HealthCheckResponse::NOT_SERVING);
  EXPECT_FALSE(heard.ended);
}

TEST_F(GrpcSessionTest, AWatcherThatGoesIsToldNothing) {
  const std::int32_t id = client_.Call(kWatch, "");
  Exchange();
  client_.Reset(id);
  Exchange();
  ready_ = false;
  client_.Ping();
  Exchange();
  EXPECT_EQ(client_.heard(id).messages().size(), 1);
}

TEST_F(GrpcSessionTest, BothReflectionsListTheServices) {
  ServerReflectionRequest request;
  request.set_list_services("*");
  for (const std::string_view path : {kReflect, kReflectAlpha}) {
    const ServerReflectionResponse response = Reflect(request, path);
    std::set<std::string> names;
    for (const auto& service : response.list_services_response().service()) {
      names.insert(service.name());
    }
    EXPECT_THAT(names, ElementsAre("envoy.service.ratelimit.v3.RateLimitService",
                                   "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection",
                                   "grpc.reflection.v1alpha.ServerReflection"));
    EXPECT_EQ(response.original_request().list_services(), "*");
  }
}

TEST_F(GrpcSessionTest, AFileComesWithThoseThatItNeeds) {
  const auto names = [](const ServerReflectionResponse& response) {
    std::vector<std::string> all;
    for (const std::string& file : response.file_descriptor_response().file_descriptor_proto()) {
      google::protobuf::FileDescriptorProto proto;
      EXPECT_TRUE(proto.ParseFromString(file));
      all.push_back(proto.name());
    }
    return all;
  };
  ServerReflectionRequest by_symbol;
  by_symbol.set_file_containing_symbol("envoy.service.ratelimit.v3.RateLimitService");
  const auto files = names(Reflect(by_symbol));
  EXPECT_EQ(files.front(), "envoy/service/ratelimit/v3/rls.proto");
  EXPECT_THAT(files, IsSupersetOf(
                         {"envoy/type/v3/ratelimit_unit.proto", "google/protobuf/wrappers.proto"}));
  EXPECT_EQ(std::set<std::string>(files.begin(), files.end()).size(), files.size());
  ServerReflectionRequest by_name;
  by_name.set_file_by_filename("grpc/health/v1/health.proto");
  EXPECT_THAT(names(Reflect(by_name)), ElementsAre("grpc/health/v1/health.proto"));
}

TEST_F(GrpcSessionTest, WhatReflectionDoesNotFindIsSaidInItsAnswer) {
  ServerReflectionRequest symbol;
  symbol.set_file_containing_symbol("no.such.Thing");
  EXPECT_EQ(Reflect(symbol).error_response().error_code(), 5);
  EXPECT_EQ(Reflect(symbol).error_response().error_message(),
            "there is no symbol no.such.Thing here");
  ServerReflectionRequest file;
  file.set_file_by_filename("none.proto");
  EXPECT_EQ(Reflect(file).error_response().error_code(), 5);
  ServerReflectionRequest extension;
  extension.mutable_file_containing_extension()->set_containing_type("none.Type");
  EXPECT_EQ(Reflect(extension).error_response().error_code(), 5);
  ServerReflectionRequest numbers;
  numbers.set_all_extension_numbers_of_type("google.protobuf.Duration");
  EXPECT_EQ(Reflect(numbers).all_extension_numbers_response().extension_number_size(), 0);
  EXPECT_EQ(Call(kReflect, ServerReflectionRequest()).field("grpc-status"), "3");
}

TEST_F(GrpcSessionTest, MessagesThatCannotBeReadAreInternalErrors) {
  for (const std::string_view path : {kCheck, kWatch, kReflect}) {
    const std::int32_t id = client_.Call(path, "\xFF\xFF\xFF");
    Exchange();
    EXPECT_EQ(client_.heard(id).field("grpc-status"), "13") << path;
  }
}

}  // namespace
}  // namespace weir
