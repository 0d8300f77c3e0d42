#include "rule/glob_parts.h"

#include <gmock/gmock.h>

#include <random>
#include <string>

#include "rule/pattern.h"

namespace weir::rule {
namespace {

using testing::ElementsAre;
using Reach = Wildcard::Reach;

TEST(GlobPartsTest, AreLiteralsWithWildcardsBetween) {
  const GlobParts parts("/api/*/v?/**");
  EXPECT_THAT(parts.literals, ElementsAre("/api/", "/v", "/", ""));
  EXPECT_THAT(parts.wildcards,
              ElementsAre(Wildcard{Reach::kSegment, 0}, Wildcard{Reach::kExactly, 1},
                          Wildcard{Reach::kAnything, 0}));
  EXPECT_THAT(GlobParts("").literals, ElementsAre(""));
  EXPECT_THAT(GlobParts("abc").literals, ElementsAre("abc"));
}

TEST(GlobPartsTest, WildcardsInARowAreOneWhereThatMeansTheSame) {
  EXPECT_THAT(GlobParts("?*?").wildcards, ElementsAre(Wildcard{Reach::kSegment, 2}));
  EXPECT_THAT(GlobParts("***").wildcards, ElementsAre(Wildcard{Reach::kAnything, 0}));
  EXPECT_THAT(GlobParts("?**").wildcards,
              ElementsAre(Wildcard{Reach::kExactly, 1}, Wildcard{Reach::kAnything, 0}));
}

TEST(GlobPartsTest, PutTogetherAgainMeanTheSame) {
  std::mt19937 random(1);
  const auto any = [&](std::string_view letters) {
    std::string text(random() % 10, ' ');
    for (char& c : text) c = letters[random() % letters.size()];
    return text;
  };
  for (int i = 0; i < 20'000; ++i) {
    const std::string glob = any("ab/**?");
    const std::string value = any("ab/");
    const GlobParts parts(glob);
    const std::string again = parts.literals[0] + parts.TextFrom(0);
    ASSERT_EQ(GlobMatches(again, value), GlobMatches(glob, value)) << glob << ", then " << again;
  }
}

}  // namespace
}  // namespace weir::rule
