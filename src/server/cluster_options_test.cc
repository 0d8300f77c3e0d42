#include "server/cluster_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace weir {
namespace {

using testing::StartsWith;

std::string WhatIsWrong(const ClusterTold& told) {
  const auto settings = Read(told);
  return settings ? "nothing" : settings.error().message;
}

TEST(ClusterOptionsTest, WithoutAnAddressThereIsNoCluster) {
  const auto settings = Read(ClusterTold{});
  ASSERT_TRUE(settings.ok());
  EXPECT_FALSE(settings->has_value());
}

TEST(ClusterOptionsTest, AnAddressIsEnough) {
  const auto settings = Read(ClusterTold{.redis = {"10.0.0.5:6379"}});
  ASSERT_TRUE(settings.ok() && settings->has_value());
  EXPECT_EQ((*settings)->redis.endpoints.size(), 1U);
  EXPECT_EQ((*settings)->redis.kind, authority::RedisKind::kServer);
  EXPECT_EQ((*settings)->deadline, std::chrono::milliseconds(10));
}

TEST(ClusterOptionsTest, AWrongValueIsNamedWithItsRemedy) {
  EXPECT_EQ(WhatIsWrong({.redis = {"nonsense"}}),
            "--redis: 'nonsense' is no address of a Redis; write 10.0.0.5:6379, "
            "unix:/run/redis.sock or tls:10.0.0.5:6380");
  EXPECT_THAT(WhatIsWrong({.redis = {"a:1", "b:2"}}),
              StartsWith("--redis: one server has one address, got 2; write --redis-kind"));
  EXPECT_THAT(WhatIsWrong({.redis = {"a:1"}, .kind = "ring"}),
              StartsWith("--redis-kind: there is server, cluster and sentinel, got 'ring'"));
  EXPECT_THAT(WhatIsWrong({.redis = {"a:1"}, .deadline = "0s"}), StartsWith("--redis-deadline: "));
  EXPECT_THAT(WhatIsWrong({.redis = {"a:1"}, .clock = "sundial"}),
              StartsWith("--redis-clock: there is redis and host, got 'sundial'"));
}

}  // namespace
}  // namespace weir
