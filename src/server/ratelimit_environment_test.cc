#include "server/ratelimit_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace weir {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;
using Variables = std::map<std::string, std::string>;

RatelimitEnvironment Read(const Variables& variables) {
  Result<RatelimitEnvironment> read = ReadRatelimitEnvironment(variables);
  EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().message);
  return read.ok() ? *read : RatelimitEnvironment{};
}
std::string ProblemWith(const Variables& variables) {
  const Result<RatelimitEnvironment> read = ReadRatelimitEnvironment(variables);
  return read.ok() ? "" : read.error().message;
}

TEST(RatelimitEnvironmentTest, WithoutVariablesItIsWhatThatServerDoes) {
  const RatelimitEnvironment read = Read({});
  EXPECT_EQ(read.options.http, "0.0.0.0:8080");
  EXPECT_EQ(read.options.grpc, "0.0.0.0:8081");
  EXPECT_EQ(read.options.rules, "/srv/runtime_data/current/config");
  EXPECT_FALSE(read.options.merge_domains);
  EXPECT_FALSE(read.options.rate_limit.response_headers);
  EXPECT_FALSE(read.options.rate_limit.dynamic_metadata);
  EXPECT_FALSE(read.options.rate_limit.modes.shadow_mode);
  EXPECT_FALSE(read.options.rate_limit.modes.quota_mode);
  EXPECT_THAT(read.notes, IsEmpty());
}

TEST(RatelimitEnvironmentTest, ListensWhereItIsTold) {
  EXPECT_EQ(Read({{"HOST", "10.0.0.1"}, {"PORT", "80"}}).options.http, "10.0.0.1:80");
  EXPECT_EQ(Read({{"GRPC_HOST", "::"}, {"GRPC_PORT", "81"}}).options.grpc, "[::]:81");
  EXPECT_EQ(Read({{"GRPC_UDS", "/tmp/r.sock"}, {"GRPC_PORT", "81"}}).options.grpc,
            "unix:/tmp/r.sock");
  EXPECT_EQ(Read({{"PORT", ""}, {"HOST", ""}}).options.http, "0.0.0.0:8080");
}

TEST(RatelimitEnvironmentTest, RulesAreWhereTheyWere) {
  EXPECT_EQ(Read({{"RUNTIME_ROOT", "/data"}, {"RUNTIME_SUBDIRECTORY", "ratelimit"}}).options.rules,
            "/data/ratelimit/config");
  EXPECT_EQ(Read({{"RUNTIME_ROOT", "/data/"}, {"RUNTIME_APPDIRECTORY", "rules"}}).options.rules,
            "/data/rules");
  EXPECT_TRUE(Read({{"MERGE_DOMAIN_CONFIG", "true"}}).options.merge_domains);
}

TEST(RatelimitEnvironmentTest, AnswersAreWhatTheyWere) {
  const RateLimitOptions options = Read({{"LIMIT_RESPONSE_HEADERS_ENABLED", "1"},
                                         {"LIMIT_LIMIT_HEADER", "l"},
                                         {"LIMIT_REMAINING_HEADER", "m"},
                                         {"LIMIT_RESET_HEADER", "r"},
                                         {"RESPONSE_DYNAMIC_METADATA", "TRUE"},
                                         {"SHADOW_MODE", "t"},
                                         {"QUOTA_MODE", "True"}})
                                       .options.rate_limit;
  EXPECT_TRUE(options.response_headers);
  EXPECT_EQ(options.limit_header, "l");
  EXPECT_EQ(options.remaining_header, "m");
  EXPECT_EQ(options.reset_header, "r");
  EXPECT_TRUE(options.dynamic_metadata);
  EXPECT_TRUE(options.modes.shadow_mode);
  EXPECT_TRUE(options.modes.quota_mode);
}

TEST(RatelimitEnvironmentTest, WhatChangesNothingIsTold) {
  const auto notes = Read({{"REDIS_URL", "redis:6379"},
                           {"REDIS_SOCKET_TYPE", "tcp"},
                           {"BACKEND_TYPE", "redis"},
                           {"USE_STATSD", "false"},
                           {"PATH", "/bin"},
                           {"RUNTIME_IGNOREDOTFILES", "true"},
                           {"RUNTIME_WATCH_ROOT", "false"}})
                         .notes;
  EXPECT_THAT(notes,
              ElementsAre(StartsWith("BACKEND_TYPE, REDIS_SOCKET_TYPE, REDIS_URL: not used; "),
                          StartsWith("USE_STATSD: not used; ")));
}

TEST(RatelimitEnvironmentTest, WhatMustNotBeLeftOutSilentlyIsRefused) {
  EXPECT_THAT(ProblemWith({{"CONFIG_TYPE", "GRPC_XDS_SOTW"}}), HasSubstr("control plane"));
  EXPECT_THAT(ProblemWith({{"CONFIG_TYPE", "file"}}), HasSubstr("CONFIG_TYPE"));
  EXPECT_THAT(ProblemWith({{"GRPC_SERVER_USE_TLS", "true"}}), HasSubstr("TLS"));
  EXPECT_EQ(ProblemWith({{"CONFIG_TYPE", "FILE"}, {"GRPC_SERVER_USE_TLS", "false"}}), "");
}

TEST(RatelimitEnvironmentTest, WhatMakesNoSenseIsNamed) {
  EXPECT_EQ(ProblemWith({{"SHADOW_MODE", "yes"}}),
            "SHADOW_MODE: expected true or false, got 'yes'");
  EXPECT_EQ(ProblemWith({{"PORT", "65536"}}), "PORT: expected a port, got '65536'");
  EXPECT_EQ(ProblemWith({{"GRPC_PORT", "x"}}), "GRPC_PORT: expected a port, got 'x'");
}

}  // namespace
}  // namespace weir
