#include "rule/rulebook.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "rule/rule_file.h"

namespace weir::rule {
namespace {

TEST(RulebookTest, ANamespaceIsFoundByItsNameAloneHoweverManyThereAre) {
  const std::vector<std::string> names = {"a", "shop", "shops", "long-name", "long-names", "other"};
  for (std::size_t count = 0; count <= names.size(); ++count) {
    std::vector<RuleSet> sets;
    Problems problems;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string text = "namespace: " + names[i] + "\nrules: [{name: r, limit: 1/s}]\n";
      sets.push_back(ReadRules(text, "test.yaml", problems).value());
    }
    const auto book = Rulebook::Compile(std::move(sets), problems);
    ASSERT_NE(book, nullptr);
    for (std::size_t i = 0; i < names.size(); ++i) {
      const Space* const found = book->Find(names[i]);
      ASSERT_EQ(found != nullptr, i < count) << names[i];
      if (found != nullptr) {
        EXPECT_EQ(found->name(), names[i]);
      }
    }
    EXPECT_EQ(book->Find(""), nullptr);
    EXPECT_EQ(book->Find("long-nam"), nullptr);
  }
}

}  // namespace
}  // namespace weir::rule
