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
    const std::string fields = Write(0, style);
    // The same if it is known which rules they are: at first, and when their texts are remembered.
    const std::uint64_t rules = checker_.rules()->book->Find("shop")->serial();
    EXPECT_EQ(Write(rules, style), fields);
    EXPECT_EQ(Write(rules, style), fields);
    return fields;
  }
  std::string Write(std::uint64_t rules, FieldStyle style) {
    std::string out;
    {
      TextRow row(out);
      AddFields(reply_, rules, style, row);
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

// Names and numbers of all lengths, of few limits and of many; and rules in the place of others.
TEST_F(RateLimitFieldsTest, TheDraftIsWrittenTheSameWayForEveryNameAndNumberOfLimits) {
  for (std::size_t size = 1; size <= 120; size += 7) {
    std::string rules;
    for (std::size_t count = 1; count <= 6; ++count) {
      const std::string name = std::string(size, 'n') + std::to_string(count);
      rules += "- {name: " + name + ", limit: " + std::to_string(size * count * 997) + "/h}\n";
      Use(rules);
      const std::string fields = Fields(FieldStyle::kDraft10);
      EXPECT_NE(fields.find('"' + name + "\";q=" + std::to_string(size * count * 997) + ";w=3600"),
                std::string::npos);
    }
  }
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
