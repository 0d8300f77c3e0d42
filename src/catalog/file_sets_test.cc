#include "catalog/file_sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::catalog {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

RuleFile Limiting(const std::string& name, const std::string& key, const std::string& more = "") {
  return {name, "domain: shop\ndescriptors:\n- {key: " + key + more +
                    ", rate_limit: {unit: second, requests_per_unit: 1}}\n"};
}

TEST(FileSetsTest, ANamespaceThatIsInTwoFilesIsRefused) {
  rule::Problems problems;
  ReadFileSets({Limiting("a.yaml", "user"), Limiting("b.yaml", "path")}, problems);
  ASSERT_THAT(problems, SizeIs(1));
  EXPECT_THAT(problems[0].ToString(), HasSubstr("are in a.yaml already"));
}

TEST(FileSetsTest, DescriptorsOfADomainCanBePutTogether) {
  rule::Problems problems;
  const auto sets = ReadFileSets({Limiting("a.yaml", "user"),
                                  {"other.yaml", "domain: other\n"},
                                  Limiting("b.yaml", "path"),
                                  Limiting("c.yaml", "user", ", value: ann")},
                                 problems, nullptr, SameSpace::kMerged);
  EXPECT_THAT(problems, IsEmpty());
  ASSERT_THAT(sets, SizeIs(2));
  std::vector<std::string> names;
  for (const rule::Rule& rule : sets[0].set.rules) names.push_back(rule.name);
  EXPECT_THAT(names, ElementsAre("user", "path", "user_ann"));
}

TEST(FileSetsTest, ADescriptorThatIsInBothFilesIsADuplicate) {
  rule::Problems problems;
  ReadFileSets({Limiting("a.yaml", "user, value: ann"), Limiting("b.yaml", "user_ann")}, problems,
               nullptr, SameSpace::kMerged);
  ASSERT_THAT(problems, SizeIs(1));
  EXPECT_THAT(problems[0].ToString(),
              HasSubstr("duplicate descriptor composite key 'shop.user_ann'"));
}

TEST(FileSetsTest, RulesWithoutDescriptorsAreNotPutTogether) {
  rule::Problems problems;
  ReadFileSets({Limiting("a.yaml", "user"),
                {"b.yaml", "namespace: shop\nrules: [{name: all, limit: 1/s}]\n"}},
               problems, nullptr, SameSpace::kMerged);
  ASSERT_THAT(problems, SizeIs(1));
  EXPECT_THAT(problems[0].ToString(), HasSubstr("only rules with descriptors"));
}

}  // namespace
}  // namespace weir::catalog
