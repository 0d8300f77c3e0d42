#include "frontend/media_type.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

TEST(MediaTypeTest, AContentTypeIsKnownWhateverItsCaseAndParameters) {
  EXPECT_EQ(MediaOf("application/json"), Media::kJson);
  EXPECT_EQ(MediaOf("Application/JSON; charset=utf-8"), Media::kJson);
  EXPECT_EQ(MediaOf("text/yaml"), Media::kYaml);
  EXPECT_EQ(MediaOf("application/x-yaml"), Media::kYaml);
  EXPECT_EQ(MediaOf("application/jsonp"), std::nullopt);
  EXPECT_EQ(MediaOf(""), std::nullopt);
}

TEST(MediaTypeTest, TheOneThatIsWantedMostIsTaken) {
  EXPECT_EQ(WantedMedia(""), Media::kJson);
  EXPECT_EQ(WantedMedia("*/*"), Media::kJson);
  EXPECT_EQ(WantedMedia("application/yaml"), Media::kYaml);
  EXPECT_EQ(WantedMedia("application/yaml, */*"), Media::kJson) << "both are as welcome";
  EXPECT_EQ(WantedMedia("application/yaml, */*;q=0.5"), Media::kYaml);
  EXPECT_EQ(WantedMedia("application/json;q=0.25, text/yaml;q=0.3"), Media::kYaml);
  EXPECT_EQ(WantedMedia("text/html,application/json;q=0.001"), Media::kJson);
}

TEST(MediaTypeTest, WhoWantsNeitherGetsNeither) {
  EXPECT_EQ(WantedMedia("image/png"), std::nullopt);
  EXPECT_EQ(WantedMedia("application/json;q=0"), std::nullopt);
  EXPECT_EQ(WantedMedia("*/*;q=0"), std::nullopt);
  EXPECT_EQ(WantedMedia("application/json;q=0, */*"), Media::kYaml);
}

}  // namespace
}  // namespace weir
