#include "frontend/traffic.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

TEST(TrafficTest, ABucketHoldsWhatTookUpToItsBoundAndNotLonger) {
  EXPECT_EQ(Traffic::BucketOf(Nanos(-5)), 0U);
  EXPECT_EQ(Traffic::BucketOf(Nanos(0)), 0U);
  for (std::size_t i = 0; i + 1 < Traffic::kBuckets; ++i) {
    EXPECT_EQ(Traffic::BucketOf(Traffic::UpTo(i)), i);
    EXPECT_EQ(Traffic::BucketOf(Traffic::UpTo(i) + Nanos(1)), i + 1);
  }
  EXPECT_EQ(Traffic::BucketOf(Nanos::max()), Traffic::kBuckets - 1);
}

TEST(TrafficTest, ProtocolsAreCountedApart) {
  Traffic traffic;
  traffic.Count(Protocol::kHttp, {.requests = 3, .errors = 1, .took = Nanos(2000)});
  traffic.Count(Protocol::kHttp, {.requests = 1, .took = Nanos(500)});
  traffic.Count(Protocol::kGrpc, {.requests = 7, .took = Nanos(1)});
  const Traffic::Totals http = traffic.Read(Protocol::kHttp);
  EXPECT_EQ(http.requests, 4U);
  EXPECT_EQ(http.errors, 1U);
  EXPECT_EQ(http.batches, 2U);
  EXPECT_EQ(http.took, Nanos(2500));
  EXPECT_EQ(http.batches_by_time[0], 1U);
  EXPECT_EQ(http.batches_by_time[1], 1U);
  EXPECT_EQ(traffic.Read(Protocol::kResp).batches, 0U);
  EXPECT_EQ(traffic.Read(Protocol::kGrpc).requests, 7U);
}

TEST(TrafficTest, AReadThatCompletesNoRequestIsNoBatch) {
  Traffic traffic;
  traffic.Count(Protocol::kResp, {.took = Nanos(100)});
  EXPECT_EQ(traffic.Read(Protocol::kResp).batches, 0U);
  EXPECT_EQ(traffic.Read(Protocol::kResp).took, Nanos(0));
}

}  // namespace
}  // namespace weir
