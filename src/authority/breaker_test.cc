#include "authority/breaker.h"

#include <gtest/gtest.h>

namespace weir::authority {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using State = Breaker::State;

Instant At(int ms) { return Instant(seconds(1000)) + milliseconds(ms); }

TEST(BreakerTest, OpensAtTheThirdFailureInARow) {
  Breaker breaker({}, 1);
  breaker.Failed(At(0));
  breaker.Failed(At(1));
  EXPECT_TRUE(breaker.Admits(At(2)));
  breaker.Succeeded(At(2));
  breaker.Failed(At(3));
  breaker.Failed(At(4));
  EXPECT_TRUE(breaker.Admits(At(5)));
  breaker.Failed(At(5));
  EXPECT_EQ(breaker.state(), State::kOpen);
  EXPECT_FALSE(breaker.Admits(At(6)));
}

TEST(BreakerTest, OpensWhenMoreThanHalfOfASecondFails) {
  Breaker breaker({}, 1);
  for (int i = 0; i < 10; ++i) {
    breaker.Failed(At(i));
    breaker.Failed(At(i));
    ASSERT_EQ(breaker.state(), i < 6 ? State::kClosed : State::kOpen) << i;
    if (i < 6) breaker.Succeeded(At(i));
  }
  Breaker even({}, 1);
  for (int i = 0; i < 100; ++i) {
    even.Failed(At(i));
    even.Succeeded(At(i));
  }
  EXPECT_EQ(even.state(), State::kClosed);
}

TEST(BreakerTest, AfterAboutASecondItProbesTenTimesASecondUntilOneSucceeds) {
  Breaker breaker({}, 1);
  for (int i = 0; i < 3; ++i) breaker.Failed(At(0));
  EXPECT_FALSE(breaker.Admits(At(749)));
  EXPECT_TRUE(breaker.Admits(At(1250)));
  EXPECT_EQ(breaker.state(), State::kProbing);
  EXPECT_FALSE(breaker.Admits(At(1251)));
  breaker.Failed(At(1260));
  EXPECT_FALSE(breaker.Admits(At(1324)));
  EXPECT_TRUE(breaker.Admits(At(1376)));
  breaker.Succeeded(At(1377));
  EXPECT_EQ(breaker.state(), State::kClosed);
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(breaker.Admits(At(1378)));
}

TEST(BreakerTest, HostsComeBackAtDifferentMoments) {
  Breaker one({}, 1);
  Breaker other({}, 2);
  for (int i = 0; i < 3; ++i) {
    one.Failed(At(0));
    other.Failed(At(0));
  }
  EXPECT_NE(one.next(), other.next());
}

}  // namespace
}  // namespace weir::authority
