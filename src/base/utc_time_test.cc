#include "base/utc_time.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::sys_seconds;

TEST(UtcTimeTest, WritesAnInstantInUtc) {
  EXPECT_EQ(FormatUtc(sys_seconds(seconds(0))), "1970-01-01T00:00:00Z");
  EXPECT_EQ(FormatUtc(sys_seconds(seconds(1'769'860'805))), "2026-01-31T12:00:05Z");
  EXPECT_EQ(FormatUtc(std::chrono::sys_time<milliseconds>(milliseconds(1'769'860'805'007))),
            "2026-01-31T12:00:05.007Z");
}

TEST(UtcTimeTest, ReadsWhatItWrites) {
  for (const char* text :
       {"1970-01-01T00:00:00Z", "2024-02-29T23:59:59Z", "9999-12-31T00:00:00Z"}) {
    const auto time = ParseUtc(text);
    ASSERT_TRUE(time) << text;
    EXPECT_EQ(FormatUtc(*time), text);
  }
}

TEST(UtcTimeTest, ReadsNothingElse) {
  for (const char* text : {"", "2026-01-31", "2026-01-31T12:00:00", "2026-01-31T12:00:00+00:00",
                           "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-31T24:00:00Z",
                           "2026-01-31T12:60:00Z", "2026-01-31T12:00:60Z", "2026-01-31 12:00:00Z",
                           "2026-1-31T12:00:000Z", " 2026-01-31T12:00:00"}) {
    EXPECT_FALSE(ParseUtc(text)) << text;
  }
}

}  // namespace
}  // namespace weir
