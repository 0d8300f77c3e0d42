#include "rule/attribute.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::rule {
namespace {

TEST(SchemaTest, GivesEachNameOneNumberAndIpTheFirst) {
  Schema schema;
  EXPECT_EQ(schema.Find("ip"), Schema::kIpNumber);
  EXPECT_EQ(schema.Find("path"), std::nullopt);
  EXPECT_EQ(schema.Add("path"), 1);
  EXPECT_EQ(schema.Add("method"), 2);
  EXPECT_EQ(schema.Add("path"), 1);
  EXPECT_EQ(schema.Find("path"), 1);
  EXPECT_EQ(schema.names().size(), 3U);
}

TEST(SchemaTest, HoldsSixtyFourNamesAndNoMore) {
  Schema schema;
  for (std::size_t i = 1; i < Schema::kMost; ++i) {
    EXPECT_EQ(schema.Add(std::to_string(i)), i);
  }
  EXPECT_EQ(schema.Add("one-too-many"), std::nullopt);
  EXPECT_EQ(schema.Add("63"), 63);
}

class ValuesTest : public testing::Test {
 protected:
  ValuesTest() { schema_.Add("path"); }
  Schema schema_;
};

TEST_F(ValuesTest, AreTheAttributesThatTheSchemaKnows) {
  const std::vector<Attribute> request = {{"user", "acme"}, {"path", "/x"}, {"path", "/y"}};
  const Values values(schema_, request);
  EXPECT_TRUE(values.Has(1));
  EXPECT_EQ(values[1], "/x");  // the first of two
  EXPECT_FALSE(values.Has(Schema::kIpNumber));
  EXPECT_EQ(values[Schema::kIpNumber], "");
}

TEST_F(ValuesTest, TellAnEmptyValueFromNone) {
  Values values(schema_);
  EXPECT_FALSE(values.Has(1));
  values.Set(1, std::string_view());
  EXPECT_TRUE(values.Has(1));
  EXPECT_EQ(values[1], "");
}

TEST_F(ValuesTest, AreCutAtTheLongest) {
  const std::string longest(Values::kLongest, 'x');
  Values values(schema_);
  values.Set(1, longest);
  EXPECT_EQ(values[1], longest);
  const std::string longer = longest + "y";
  values.Set(1, longer);
  EXPECT_EQ(values[1], longest);
}

TEST_F(ValuesTest, ReadIpAsAnAddressWhereItIsOne) {
  Values values(schema_);
  EXPECT_FALSE(values.ip());
  values.Set(Schema::kIpNumber, "::ffff:10.1.2.3");
  ASSERT_TRUE(values.ip());
  EXPECT_EQ(values.ip()->ToString(), "10.1.2.3");
  values.Set(1, "10.9.9.9");
  EXPECT_EQ(values.ip()->ToString(), "10.1.2.3");
  values.Set(Schema::kIpNumber, "unknown");
  EXPECT_FALSE(values.ip());
  EXPECT_EQ(values[Schema::kIpNumber], "unknown");
}

TEST_F(ValuesTest, AnAddressThatIsGivenIsNotReadFromItsText) {
  const Address address = *Address::Parse("2001:db8::7");
  const Attribute attributes[] = {{"ip", "as it was told", &address}};
  const Values values(schema_, attributes);
  EXPECT_EQ(values.ip(), address);
  EXPECT_EQ(values[Schema::kIpNumber], "as it was told");
}

}  // namespace
}  // namespace weir::rule
