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
  const auto notes = Read({{"REDIS_POOL_SIZE", "10"},
                           {"BACKEND_TYPE", "memcache"},
                           {"USE_STATSD", "false"},
                           {"PATH", "/bin"},
                           {"RUNTIME_IGNOREDOTFILES", "true"},
                           {"RUNTIME_WATCH_ROOT", "false"}})
                         .notes;
  EXPECT_THAT(notes, ElementsAre(StartsWith("BACKEND_TYPE, REDIS_POOL_SIZE: not used; weir keeps"),
                                 StartsWith("USE_STATSD: not used; ")));
}

TEST(RatelimitEnvironmentTest, ItsRedisIsShared) {
  const RatelimitEnvironment read = Read({{"REDIS_URL", "redis:6379"},
                                          {"REDIS_SOCKET_TYPE", "tcp"},
                                          {"REDIS_AUTH", "secret"},
                                          {"BACKEND_TYPE", "redis"},
                                          {"REDIS_POOL_SIZE", "10"},
                                          {"REDIS_PERSECOND", "true"}});
  EXPECT_THAT(read.options.cluster.redis, ElementsAre("redis:6379"));
  EXPECT_EQ(read.options.cluster.kind, "server");
  EXPECT_EQ(read.options.cluster.user, "");
  EXPECT_EQ(read.options.cluster.password, "secret");
  EXPECT_THAT(read.notes,
              ElementsAre(StartsWith("REDIS_PERSECOND, REDIS_POOL_SIZE: not used; each thread")));
}

TEST(RatelimitEnvironmentTest, ItsRedisMayBeOfAnyKind) {
  const ClusterTold socket = Read({{"REDIS_URL", "/run/redis.sock"}}).options.cluster;
  EXPECT_THAT(socket.redis, ElementsAre("unix:/run/redis.sock"));
  const ClusterTold cluster = Read({{"REDIS_URL", "a:1,b:2"},
                                    {"REDIS_TYPE", "CLUSTER"},
                                    {"REDIS_SOCKET_TYPE", "tcp"},
                                    {"REDIS_TLS", "true"},
                                    {"REDIS_TLS_CACERT", "/ca.pem"},
                                    {"REDIS_AUTH", "me:secret:too"}})
                                  .options.cluster;
  EXPECT_THAT(cluster.redis, ElementsAre("tls:a:1", "tls:b:2"));
  EXPECT_EQ(cluster.kind, "cluster");
  EXPECT_EQ(cluster.tls_ca, "/ca.pem");
  EXPECT_EQ(cluster.user, "me");
  EXPECT_EQ(cluster.password, "secret:too");
  const ClusterTold sentinels = Read({{"REDIS_URL", "main,a:1,b:2"},
                                      {"REDIS_TYPE", "SENTINEL"},
                                      {"REDIS_SOCKET_TYPE", "tcp"},
                                      {"REDIS_SENTINEL_AUTH", "s"}})
                                    .options.cluster;
  EXPECT_THAT(sentinels.redis, ElementsAre("a:1", "b:2"));
  EXPECT_EQ(sentinels.kind, "sentinel");
  EXPECT_EQ(sentinels.master, "main");
  EXPECT_EQ(sentinels.sentinel_password, "s");
}

TEST(RatelimitEnvironmentTest, ARedisThatIsNamedToWeirCountsMore) {
  ServeOptions options;
  options.cluster.redis = {"ours:1"};
  const auto read = ReadRatelimitEnvironment({{"REDIS_URL", "/run/redis.sock"}}, options);
  ASSERT_TRUE(read.ok());
  EXPECT_THAT(read->options.cluster.redis, ElementsAre("ours:1"));
}

TEST(RatelimitEnvironmentTest, ARedisThatMakesNoSenseIsRefused) {
  const auto with = [](const char* name, const char* value) {
    Variables variables = {{"REDIS_URL", "a:1"}, {"REDIS_SOCKET_TYPE", "tcp"}};
    variables[name] = value;
    return ProblemWith(variables);
  };
  EXPECT_THAT(with("REDIS_TYPE", "OTHER"), StartsWith("REDIS_TYPE: there is SINGLE"));
  EXPECT_THAT(with("REDIS_TYPE", "SENTINEL"), StartsWith("REDIS_URL: expected the master's name"));
  EXPECT_THAT(with("REDIS_SOCKET_TYPE", "udp"), StartsWith("REDIS_SOCKET_TYPE: there is unix"));
  EXPECT_THAT(with("REDIS_URL", "a:b:c"), StartsWith("REDIS_URL: "));
  EXPECT_THAT(with("REDIS_TLS", "maybe"), StartsWith("REDIS_TLS: expected true or false"));
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
