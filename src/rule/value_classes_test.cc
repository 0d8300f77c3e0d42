#include "rule/value_classes.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "rule/pattern.h"

namespace weir::rule {
namespace {

using Class = ValueClasses::Class;

PatternTrie TrieOf(const std::vector<Pattern>& patterns) {
  PatternTrie trie;
  for (const Pattern& pattern : patterns) EXPECT_TRUE(trie.Add(pattern)) << pattern.text;
  return trie;
}

std::vector<bool> TriedOneByOne(const std::vector<Pattern>& patterns, const std::string& value) {
  std::vector<bool> tried;
  for (const Pattern& pattern : patterns) tried.push_back(Matches(pattern, value));
  return tried;
}

// Texts of a small alphabet, so that patterns and values meet.
class RandomTexts {
 public:
  explicit RandomTexts(std::uint32_t seed) : random_(seed) {}

  std::string Text(std::string_view letters, std::size_t longest) {
    std::string text(random_() % (longest + 1), ' ');
    for (char& c : text) c = letters[random_() % letters.size()];
    return text;
  }
  Pattern NextPattern() {
    switch (random_() % 8) {
      case 0:
      case 1:
        return {PatternKind::kExact, Text("ab/", 10)};
      case 2:
        return {PatternKind::kPrefix, Text("ab/", 9)};
      case 3:
        return {PatternKind::kPresent, ""};
      default:
        return {PatternKind::kGlob, Text("ab//**?", 12)};
    }
  }

 private:
  std::mt19937 random_;
};

TEST(ValueClassesTest, TwoValuesAreOfOneClassIfTheyMatchTheSamePatterns) {
  std::size_t classes_seen = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    RandomTexts random(seed);
    std::vector<Pattern> patterns(1 + seed % 12);
    for (Pattern& pattern : patterns) pattern = random.NextPattern();
    const PatternTrie trie = TrieOf(patterns);
    ValueClasses classes(trie);
    std::map<Class, std::vector<bool>> tried_by_class;
    std::map<std::vector<bool>, Class> class_by_tried;
    for (int i = 0; i < 400; ++i) {
      const std::string value = random.Text("aab/", i % 3 == 0 ? 5 : 25);
      const Class known = classes.Of(value);
      ASSERT_NE(known, ValueClasses::kUnknown);
      ASSERT_NE(known, ValueClasses::kAbsent);
      ASSERT_EQ(classes.Of(value), known) << "read again, by leaps: " << value;
      const std::vector<bool> tried = TriedOneByOne(patterns, value);
      const auto [of_class, is_new] = tried_by_class.emplace(known, tried);
      ASSERT_EQ(of_class->second, tried) << "seed " << seed << ", " << value;
      ASSERT_EQ(class_by_tried.emplace(tried, known).first->second, known) << value;
    }
    classes_seen += tried_by_class.size();
  }
  EXPECT_GT(classes_seen, 600U);
}

TEST(ValueClassesTest, PathsWithNumbersInThemAreOfOneClass) {
  const PatternTrie trie = TrieOf({{PatternKind::kGlob, "/api/v1/products/*"},
                                   {PatternKind::kGlob, "/api/**"},
                                   {PatternKind::kExact, "/api/v1/products/7"}});
  ValueClasses classes(trie);
  const Class of_a_product = classes.Of("/api/v1/products/12345");
  for (int i = 8; i < 5000; ++i) {
    ASSERT_EQ(classes.Of("/api/v1/products/" + std::to_string(i)), of_a_product) << i;
  }
  EXPECT_NE(classes.Of("/api/v1/products/7"), of_a_product);
  EXPECT_NE(classes.Of("/api/v1/products/7/"), of_a_product);
  EXPECT_EQ(classes.Of("/api/v1/products/"), of_a_product) << "a star may stand for nothing";
  EXPECT_LT(classes.rows(), 40U) << "nothing is added for numbers";
}

TEST(ValueClassesTest, WhatAnExpressionMightMatchIsNotToldByReading) {
  PatternTrie trie;
  EXPECT_TRUE(trie.Add({PatternKind::kRegex, "/api/v[0-9]+/.*"}));
  EXPECT_TRUE(trie.Add({PatternKind::kExact, "/api"}));
  ValueClasses classes(trie);
  EXPECT_EQ(classes.Of("/api/v1/"), ValueClasses::kUnknown);
  EXPECT_EQ(classes.Of("/api/vx"), ValueClasses::kUnknown) << "it would have to be tried";
  EXPECT_NE(classes.Of("/api"), ValueClasses::kUnknown);
  EXPECT_NE(classes.Of("/api"), classes.Of("/other"));
}

TEST(ValueClassesTest, WhatTakesMoreThanReadingIsRefused) {
  PatternTrie trie;
  EXPECT_FALSE(trie.Add({PatternKind::kRegex, ".*[.]php"}));
  EXPECT_FALSE(trie.Add({PatternKind::kCidr, "10.0.0.0/8"}));
}

TEST(ValueClassesTest, WhateverIsSentTheTableStaysWithinItsBound) {
  // Sets of places that grow with every letter: more of them than there is room for.
  std::vector<Pattern> patterns;
  for (const char* text : {"**a??????????b**", "**b?????a**", "*a????????????", "**/**a??b**"}) {
    patterns.push_back({PatternKind::kGlob, text});
  }
  const PatternTrie trie = TrieOf(patterns);
  ValueClasses classes(trie);
  RandomTexts random(1);
  std::map<Class, std::vector<bool>> tried_by_class;
  std::size_t told = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string value = random.Text("aab/", 120);
    const Class known = classes.Of(value);
    ASSERT_LE(classes.rows(), ValueClasses::kMostRows);
    if (known == ValueClasses::kUnknown) continue;
    ++told;
    const std::vector<bool> tried = TriedOneByOne(patterns, value);
    ASSERT_EQ(tried_by_class.emplace(known, tried).first->second, tried) << value;
  }
  EXPECT_GT(told, 100U);
  EXPECT_LT(told, 3000U) << "this was to be too much";
}

}  // namespace
}  // namespace weir::rule
