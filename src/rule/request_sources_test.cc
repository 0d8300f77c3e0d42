#include "rule/request_sources.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace weir::rule {
namespace {

class RequestSourcesTest : public testing::Test {
 protected:
  Schema::Number Add(std::string_view name) { return schema_.Add(name).value(); }
  // What is found in `fields`, by number; of several, all of them.
  std::map<Schema::Number, std::string> Find(HeaderFields fields) {
    std::map<Schema::Number, std::string> found;
    RequestSources::Of(schema_).headers.Find(
        fields,
        [&](Schema::Number number, const HeaderField& field) { found[number] += field.value; });
    return found;
  }

  Schema schema_;
};

TEST_F(RequestSourcesTest, KnowWhatARequestShowsByItself) {
  const auto user = Add("user");
  const auto path = Add("path");
  const RequestSources sources = RequestSources::Of(schema_);
  EXPECT_EQ(sources.user, user);
  EXPECT_EQ(sources.path, path);
  EXPECT_EQ(sources.method, std::nullopt);
  EXPECT_EQ(sources.host, std::nullopt);
}

TEST_F(RequestSourcesTest, TellTheFamiliesApart) {
  Add("plan");  // of callers that name it; no request shows it
  const auto cookie = Add("cookie.plan");
  const auto query = Add("query.a.b");
  const RequestSources sources = RequestSources::Of(schema_);
  ASSERT_EQ(sources.cookies.size(), 1U);
  EXPECT_EQ(sources.cookies[0].number, cookie);
  EXPECT_EQ(sources.cookies[0].name, "plan");
  ASSERT_EQ(sources.query.size(), 1U);
  EXPECT_EQ(sources.query[0].number, query);
  EXPECT_EQ(sources.query[0].name, "a.b");
}

TEST_F(RequestSourcesTest, WantedHeadersAreFoundInAnyCaseAndOthersAreNot) {
  const auto plan = Add("header.x-plan");
  const auto cost = Add("header.x-cost");  // as long
  const auto key = Add("header.x-api-key");
  const std::string far(64 + 6, 'x');  // in the same row as the first two
  const std::vector<HeaderField> fields = {{"X-Plan", "a"}, {"x-cost", "b"}, {"x-blue", "c"},
                                           {far, "d"},      {"x-plan", "e"}, {"X", "f"}};
  const auto found = Find(fields);
  EXPECT_EQ(found, (std::map<Schema::Number, std::string>{{plan, "ae"}, {cost, "b"}}));
  EXPECT_EQ(found.count(key), 0U);
}

TEST_F(RequestSourcesTest, OneHeaderMoreThanNoneIsWanted) {
  EXPECT_TRUE(Find(std::vector<HeaderField>{{"x-plan", "a"}}).empty());
  const auto plan = Add("header.x-plan");
  EXPECT_EQ(Find(std::vector<HeaderField>{{"x-plan", "a"}}).at(plan), "a");
}

}  // namespace
}  // namespace weir::rule
