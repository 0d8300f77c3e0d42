#include "wire/http_date.h"

#include <gtest/gtest.h>

#include <string>

namespace weir::wire {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

std::string DateAt(std::chrono::seconds since_epoch) {
  return std::string(HttpDate().FieldAt(Instant(since_epoch)));
}

TEST(HttpDateTest, IsTheFormOfTheStandard) {
  EXPECT_EQ(DateAt(seconds(784'111'777)), "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
  EXPECT_EQ(DateAt(seconds(0)), "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n");
  EXPECT_EQ(DateAt(seconds(1'709'251'199)), "Date: Thu, 29 Feb 2024 23:59:59 GMT\r\n");
  EXPECT_EQ(DateAt(seconds(4'102'444'799)), "Date: Thu, 31 Dec 2099 23:59:59 GMT\r\n");
}

TEST(HttpDateTest, ChangesWithTheSecondInBothDirections) {
  HttpDate date;
  const Instant second(seconds(784'111'777));
  const std::string first(date.FieldAt(second + milliseconds(500)));
  EXPECT_EQ(date.FieldAt(second), first);
  EXPECT_EQ(date.FieldAt(second + seconds(1) - nanoseconds(1)), first);
  EXPECT_EQ(date.FieldAt(second + seconds(1)), "Date: Sun, 06 Nov 1994 08:49:38 GMT\r\n");
  EXPECT_EQ(date.FieldAt(second), first);
}

TEST(HttpDateTest, IsRightFromTheFirstInstantToTheLast) {
  EXPECT_EQ(HttpDate().FieldAt(Instant::min()), "Date: Tue, 21 Sep 1677 00:12:43 GMT\r\n");
  EXPECT_EQ(HttpDate().FieldAt(Instant::max()), "Date: Fri, 11 Apr 2262 23:47:16 GMT\r\n");
}

}  // namespace
}  // namespace weir::wire
