#include "service/shared_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "rule/any_file.h"
#include "rule/rule_file.h"

namespace weir {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;

class SharedNameTest : public testing::Test {
 protected:
  // Of a rule by these attributes.
  std::string NameOf(const std::string& by, const std::vector<rule::Attribute>& attributes,
                     std::size_t limit = 0) {
    rule::Problems problems;
    auto set = rule::ReadRules(
        "namespace: shop\nrules:\n- {name: login, by: " + by + ", limit: 1/s}", "t", problems);
    EXPECT_TRUE(set.has_value());
    const auto book = rule::Rulebook::Compile({*set}, problems);
    const rule::Space& space = *book->Find("shop");
    const rule::CompiledRule& rule = space.rules()[0];
    const rule::Values values(space.schema(), attributes);
    std::string name;
    SharedName{.space = &space,
               .rule = &rule,
               .counter = &rule.counters[0],
               .values = &values,
               .limit = limit}
        .AppendTo(name);
    return name;
  }
  // Of a rule with a descriptor.
  static std::string NameByDescriptor(const std::vector<std::string_view>& values) {
    rule::Problems problems;
    auto set = rule::ReadRules(
        "namespace: shop\nrules:\n- {name: login, descriptor: [{key: a}], limit: 1/s}", "t",
        problems);
    const auto book = rule::Rulebook::Compile({*set}, problems);
    const rule::CompiledRule& rule = book->Find("shop")->rules()[0];
    std::string name;
    SharedName{
        .space = book->Find("shop"), .rule = &rule, .counter = &rule.counters[0], .texts = values}
        .AppendTo(name);
    return name;
  }
  // Of a limit that came with a request.
  static std::string NameInRequest(const std::vector<std::string_view>& entries,
                                   const std::string& domain = "shop") {
    rule::Problems problems;
    auto set = rule::ReadAnyRules("domain: " + domain + "\ndescriptors: []", "t", problems);
    const auto book = rule::Rulebook::Compile({*set}, problems);
    std::string name;
    SharedName{.space = &book->spaces().begin()->second, .texts = entries, .unit = "MINUTE"}
        .AppendTo(name);
    return name;
  }
};

TEST_F(SharedNameTest, SaysWhoseItIsAndIsTheSameEverywhere) {
  const std::string name = NameOf("[ip, user]", {{"ip", "198.51.100.7"}, {"user", "ann"}});
  EXPECT_THAT(name, MatchesRegex("\\{shop/login:[0-9a-f]{16}:198\\.51\\.100\\.7\\|ann\\}:0"));
  EXPECT_EQ(name, NameOf("[ip, user]", {{"user", "ann"}, {"ip", "198.51.100.7"}}));
}

TEST_F(SharedNameTest, LimitsOfOneKeyDifferBehindTheBracesOnly) {
  const std::string first = NameOf("[user]", {{"user", "ann"}}, 0);
  const std::string second = NameOf("[user]", {{"user", "ann"}}, 1);
  EXPECT_NE(first, second);
  EXPECT_EQ(first.substr(0, first.find('}')), second.substr(0, second.find('}')));
}

TEST_F(SharedNameTest, NetworksAreNamedByTheirFirstAddress) {
  EXPECT_THAT(NameOf("[ip]", {{"ip", "2001:db8:1:2:3:4:5:6"}}), HasSubstr(":2001:db8:1:2::}"));
}

TEST_F(SharedNameTest, NothingThatAClientSendsLooksLikeSomethingElse) {
  EXPECT_THAT(NameOf("[user]", {{"user", "a}{|%\n\xff b"}}),
              HasSubstr(":a%7d%7b%7c%25%0a%ff%20b}:0"));
  EXPECT_NE(NameOf("[user, path]", {{"user", "a|b"}, {"path", "c"}}),
            NameOf("[user, path]", {{"user", "a"}, {"path", "b|c"}}));
}

TEST_F(SharedNameTest, ADescriptorIsNamedByItsValuesAndALimitOfARequestByItsEntries) {
  EXPECT_THAT(NameByDescriptor({"a/b", "anna"}),
              MatchesRegex("\\{shop/login:[0-9a-f]{16}:a/b\\|anna\\}:0"));
  EXPECT_EQ(NameInRequest({"user", "anna"}), "{shop/*:MINUTE:user|anna}:0");
  EXPECT_NE(NameByDescriptor({"a", ""}), NameByDescriptor({"", "a"}));
  EXPECT_NE(NameByDescriptor({"a|", "b"}), NameByDescriptor({"a", "|b"}));
  EXPECT_NE(NameByDescriptor({"a", "b"}), NameByDescriptor({"a|b"}));
}

TEST_F(SharedNameTest, ADomainOfEnvoysMayBeAnyText) {
  EXPECT_EQ(NameInRequest({"a"}, "'x{}|% */:y'"), "{x%7b%7d%7c%25%20%2a/:y/*:MINUTE:a}:0");
}

TEST_F(SharedNameTest, LongValuesBecomeADigest) {
  const std::string name = NameOf("[user]", {{"user", std::string(4000, 'x')}});
  EXPECT_LT(name.size(), 120U);
  EXPECT_NE(name, NameOf("[user]", {{"user", std::string(4000, 'x') + "y"}}));
  const std::string digest = name.substr(name.find(":%%") + 1, 66);
  EXPECT_NE(name, NameOf("[user]", {{"user", digest}})) << "nobody can take its name";
}

}  // namespace
}  // namespace weir
