#include "frontend/rate_limit_fields.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "rule/rule_file.h"

namespace weir {
namespace {

constexpr Instant kNow{std::chrono::seconds(1'780'315'200)};

class RateLimitFieldsTest : public testing::Test {
 protected:
  void Use(const std::string& rules) {
    rule::Problems problems;
    auto set = rule::ReadRules("namespace: shop\nrules:\n" + rules, "test.yaml", problems);
    ASSERT_TRUE(set.has_value()) << problems[0].ToString();
    ASSERT_TRUE(checker_.Publish({std::move(*set)}, "test").empty());
  }
  std::string Fields(FieldStyle style) {
    checker_.Check({"shop", {}}, kNow, reply_);
    std::string out;
    {
      TextRow row(out);
      AddFields(reply_, 0, style, row);
    }
    return out;
  }

  Checker checker_{std::move(Ledger::Open({.max_keys = 1000})).value(), {}};
  CheckReply reply_;
};

TEST_F(RateLimitFieldsTest, TheDraftNamesEachLimitWithItsPolicy) {
  Use("- {name: api, limits: [fixed_window 2/min, 5000/h]}");
  EXPECT_EQ(Fields(FieldStyle::kDraft10),
            "RateLimit-Policy: \"api\";q=2;w=60, \"api\";q=5000;w=3600\r\n"
            "RateLimit: \"api\";r=1;t=60, \"api\";r=4999;t=1\r\n");
  Fields(FieldStyle::kDraft10);
  EXPECT_EQ(Fields(FieldStyle::kDraft10),
            "RateLimit-Policy: \"api\";q=2;w=60, \"api\";q=5000;w=3600\r\n"
            "RateLimit: \"api\";r=0;t=60, \"api\";r=4998;t=2\r\n"
            "Retry-After: 60\r\n");
}

TEST_F(RateLimitFieldsTest, TheOlderFormsTellOfTheLimitThatDecides) {
  Use("- {name: a, limit: 100/s}\n- {name: b, limit: 3/min}");
  EXPECT_EQ(Fields(FieldStyle::kDraft06),
            "RateLimit-Limit: 3\r\nRateLimit-Remaining: 2\r\nRateLimit-Reset: 20\r\n");
  EXPECT_EQ(Fields(FieldStyle::kXRateLimit),
            "X-RateLimit-Limit: 3\r\nX-RateLimit-Remaining: 1\r\nX-RateLimit-Reset: 40\r\n");
}

TEST_F(RateLimitFieldsTest, SecondsAreRoundedUpAndARefusalIsAtLeastOneAway) {
  Use("- {name: a, limit: 10/s burst 1}");
  EXPECT_EQ(Fields(FieldStyle::kNone), "");
  EXPECT_EQ(Fields(FieldStyle::kNone), "Retry-After: 1\r\n");
  EXPECT_EQ(SecondsUp(Nanos(1)), 1);
  EXPECT_EQ(SecondsUp(std::chrono::seconds(1)), 1);
  EXPECT_EQ(SecondsUp(std::chrono::seconds(1) + Nanos(1)), 2);
  EXPECT_EQ(SecondsUp(Nanos(0)), 0);
}

TEST_F(RateLimitFieldsTest, ShadowIsNotToldAndWhatIsBlockedForEverHasNoRetryAfter) {
  Use("- {name: a, limit: 1/min, mode: shadow}\n- {name: b, limit: blocked}");
  EXPECT_EQ(Fields(FieldStyle::kDraft10), "");
  EXPECT_FALSE(reply_.allowed());
}

TEST(FieldStyleTest, IsKnownByItsVersion) {
  EXPECT_EQ(FieldStyleOf("draft-10"), FieldStyle::kDraft10);
  EXPECT_EQ(FieldStyleOf("x-ratelimit"), FieldStyle::kXRateLimit);
  EXPECT_EQ(FieldStyleOf("draft-99"), std::nullopt);
}

}  // namespace
}  // namespace weir
