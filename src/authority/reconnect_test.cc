#include "authority/reconnect.h"

#include <gtest/gtest.h>

namespace weir::authority {
namespace {

using std::chrono::milliseconds;

TEST(ReconnectTest, TheWaitDoublesUpToTheLongest) {
  const Reconnect reconnect{.first = milliseconds(50), .longest = milliseconds(300)};
  EXPECT_EQ(reconnect.WaitAfter(1, 0), milliseconds(50));
  EXPECT_EQ(reconnect.WaitAfter(2, 0), milliseconds(100));
  EXPECT_EQ(reconnect.WaitAfter(3, 0), milliseconds(200));
  EXPECT_EQ(reconnect.WaitAfter(4, 0), milliseconds(300));
  EXPECT_EQ(reconnect.WaitAfter(1'000'000, 0), milliseconds(300));
}

TEST(ReconnectTest, ChanceTakesUpToHalfOff) {
  const Reconnect reconnect{.first = milliseconds(50), .longest = milliseconds(300)};
  EXPECT_EQ(reconnect.WaitAfter(1, 0.5), Nanos(37'500'000));
  EXPECT_GT(reconnect.WaitAfter(9, 0.999), milliseconds(150));
  EXPECT_LT(reconnect.WaitAfter(9, 0.999), milliseconds(151));
}

}  // namespace
}  // namespace weir::authority
