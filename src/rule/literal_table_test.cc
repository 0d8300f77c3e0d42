#include "rule/literal_table.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

namespace weir::rule {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class LiteralTableTest : public testing::Test {
 protected:
  std::vector<std::uint32_t> Exactly(LiteralTable::SetNumber set, std::string_view text) const {
    Hits hits;
    table_.Append(table_.Find(set, text).packed, hits);
    return {hits.begin(), hits.end()};
  }
  std::vector<std::uint32_t> Prefixes(std::string_view value) const {
    Hits hits;
    table_.ForEachPrefixOf(value, table_.set(first_), [&](std::size_t, const auto& found) {
      table_.Append(found.packed, hits);
    });
    return {hits.begin(), hits.end()};
  }
  std::vector<std::uint32_t> Suffixes(std::string_view value, std::size_t shortest) const {
    Hits hits;
    table_.ForEachSuffixOf(
        value, shortest, table_.set(first_),
        [&](std::size_t, const auto& found) { table_.Append(found.packed, hits); });
    return {hits.begin(), hits.end()};
  }
  void Build() { table_ = std::move(builder_).Build(); }

  LiteralTable::Builder builder_;
  LiteralTable::SetNumber first_ = builder_.NewSet();
  LiteralTable::SetNumber second_ = builder_.NewSet();
  LiteralTable table_;
};

TEST_F(LiteralTableTest, WithoutTextsFindsNothing) {
  Build();
  EXPECT_THAT(Exactly(first_, ""), IsEmpty());
  EXPECT_THAT(Prefixes("abc"), IsEmpty());
  EXPECT_TRUE(table_.set(first_).empty());
}

TEST_F(LiteralTableTest, KeepsSetsApart) {
  builder_.Add(first_, "a", 1);
  builder_.Add(second_, "a", 2);
  Build();
  EXPECT_THAT(Exactly(first_, "a"), ElementsAre(1));
  EXPECT_THAT(Exactly(second_, "a"), ElementsAre(2));
  EXPECT_THAT(Exactly(second_, "b"), IsEmpty());
}

TEST_F(LiteralTableTest, FindsAllNumbersOfAText) {
  for (const std::uint32_t number : {7U, 3U, 5U}) builder_.Add(first_, "abc", number);
  Build();
  EXPECT_THAT(Exactly(first_, "abc"), ElementsAre(7, 3, 5));
}

TEST_F(LiteralTableTest, FindsWhatAValueBeginsAndEndsWith) {
  builder_.Add(first_, "", 0);
  builder_.Add(first_, "a", 1);
  builder_.Add(first_, "abcab", 2);
  builder_.Add(first_, "b", 3);
  Build();
  EXPECT_THAT(Prefixes("abcabc"), ElementsAre(0, 1, 2));
  EXPECT_THAT(Prefixes("ab"), ElementsAre(0, 1));
  EXPECT_THAT(Prefixes(""), ElementsAre(0));
  EXPECT_THAT(Suffixes("xabcab", 0), ElementsAre(0, 3, 2));
  EXPECT_THAT(Suffixes("xabcab", 2), ElementsAre(2));
}

TEST_F(LiteralTableTest, GivesTheNoteBack) {
  builder_.Add(first_, "key", 1, "*/edit");
  builder_.Add(first_, "other", 2);
  Build();
  EXPECT_EQ(table_.Find(first_, "key").note, "*/edit");
  EXPECT_EQ(table_.Find(first_, "other").note, "");
}

TEST_F(LiteralTableTest, HoldsManyTextsOfAllLengths) {
  const auto text = [](std::uint32_t i) { return std::string(i % 300, 'x') + std::to_string(i); };
  for (std::uint32_t i = 0; i < 3000; ++i) builder_.Add(first_, text(i), i);
  Build();
  for (std::uint32_t i = 0; i < 3000; ++i) {
    ASSERT_THAT(Exactly(first_, text(i)), ElementsAre(i));
    ASSERT_THAT(Exactly(first_, text(i) + "-"), IsEmpty());
  }
}

}  // namespace
}  // namespace weir::rule
