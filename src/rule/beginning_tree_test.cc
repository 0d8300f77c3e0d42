#include "rule/beginning_tree.h"

#include <gmock/gmock.h>

#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace weir::rule {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// The texts that `value` begins with, as the tree finds them; each length must be that of its text.
std::vector<std::string> Beginnings(const std::set<std::string>& texts, std::string_view value) {
  const std::vector<std::string> sorted(texts.begin(), texts.end());
  const BeginningTree tree(sorted);
  std::vector<std::string> found;
  tree.ForEachBeginningOf(value, [&](std::uint32_t text, std::size_t length) {
    EXPECT_EQ(length, sorted[text].size());
    found.push_back(sorted[text]);
  });
  return found;
}

TEST(BeginningTreeTest, WithoutTextsFindsNothing) {
  EXPECT_THAT(Beginnings({}, ""), IsEmpty());
  EXPECT_THAT(Beginnings({}, "a"), IsEmpty());
}

TEST(BeginningTreeTest, FindsAllBeginningsTheShortestFirst) {
  const std::set<std::string> texts = {"/api/", "/api/v1/", "/about", "/api/v1/users/me"};
  EXPECT_THAT(Beginnings(texts, "/api/v1/users"), ElementsAre("/api/", "/api/v1/"));
  EXPECT_THAT(Beginnings(texts, "/api/v1/"), ElementsAre("/api/", "/api/v1/"));
  EXPECT_THAT(Beginnings(texts, "/api/v2/"), ElementsAre("/api/"));
  EXPECT_THAT(Beginnings(texts, "/about/us"), ElementsAre("/about"));
  EXPECT_THAT(Beginnings(texts, "/abou"), IsEmpty());
  EXPECT_THAT(Beginnings(texts, "/"), IsEmpty());
}

TEST(BeginningTreeTest, EveryValueBeginsWithTheEmptyText) {
  EXPECT_THAT(Beginnings({"", "a"}, ""), ElementsAre(""));
  EXPECT_THAT(Beginnings({"", "a"}, "ab"), ElementsAre("", "a"));
  EXPECT_THAT(Beginnings({""}, "ab"), ElementsAre(""));
}

TEST(BeginningTreeTest, AZeroIsACharacterAndNotTheEndOfAValue) {
  const std::string zero(1, '\0');
  EXPECT_THAT(Beginnings({"a" + zero}, "a"), IsEmpty());
  EXPECT_THAT(Beginnings({"a" + zero}, "a" + zero), ElementsAre("a" + zero));
  EXPECT_THAT(Beginnings({zero, "\xFF"}, zero + "b"), ElementsAre(zero));
}

TEST(BeginningTreeTest, TextsLongerThanAWordAreComparedToTheirEnd) {
  for (std::size_t size = 1; size < 40; ++size) {
    const std::string text(size, 'x');
    EXPECT_THAT(Beginnings({text}, text + "y"), ElementsAre(text));
    for (std::size_t at = 0; at < size; ++at) {
      std::string other = text;
      other[at] = 'y';
      EXPECT_THAT(Beginnings({text}, other), IsEmpty()) << size << ", " << at;
      EXPECT_THAT(Beginnings({text, other}, other), ElementsAre(other));
    }
  }
}

TEST(BeginningTreeTest, ARowMayHoldAllCharacters) {
  std::set<std::string> texts;
  for (int c = 0; c < 256; ++c) texts.insert({'a', static_cast<char>(c), 'z'});
  for (const std::string& text : texts) {
    ASSERT_THAT(Beginnings(texts, text + "!"), ElementsAre(text));
    ASSERT_THAT(Beginnings(texts, text.substr(0, 2) + "y"), IsEmpty());
  }
}

TEST(BeginningTreeTest, FindsWhatTryingEveryTextFinds) {
  std::size_t found = 0;
  for (std::uint32_t seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    // Small alphabets, so that texts share their beginnings; large ones, so that rows are wide.
    const std::string_view letters = seed % 3 == 0   ? "ab"
                                     : seed % 3 == 1 ? "ab/-19z"
                                                     : "\x01\x7F\x80\xFFqrstuvwxyz01234567";
    const auto text = [&](std::size_t longest) {
      std::string made(random() % (longest + 1), ' ');
      for (char& c : made) c = letters[random() % letters.size()];
      return made;
    };
    std::set<std::string> texts;
    for (int i = 0; i < (seed % 2 == 0 ? 20 : 2000); ++i)
      texts.insert(text(seed % 5 == 0 ? 40 : 6));
    const std::vector<std::string> sorted(texts.begin(), texts.end());
    const BeginningTree tree(sorted);
    for (int i = 0; i < 500; ++i) {
      std::string value = text(10);
      if (i % 2 == 0) value = sorted[random() % sorted.size()] + value;
      std::vector<std::string> expected;
      for (std::size_t size = 0; size <= value.size(); ++size) {
        if (texts.contains(value.substr(0, size))) expected.push_back(value.substr(0, size));
      }
      std::vector<std::string> seen;
      tree.ForEachBeginningOf(
          value, [&](std::uint32_t number, std::size_t) { seen.push_back(sorted[number]); });
      ASSERT_EQ(seen, expected) << "seed " << seed << ", value " << value;
      found += seen.size();
    }
  }
  EXPECT_GT(found, 10'000U);
}

}  // namespace
}  // namespace weir::rule
