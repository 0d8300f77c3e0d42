#include "wire/resp_words.h"

#include <gtest/gtest.h>

#include <optional>

namespace weir::wire {
namespace {

using namespace std::string_literals;

using Words = std::vector<std::string>;

std::optional<Words> Split(std::string_view line) {
  std::vector<std::string_view> words;
  std::string unquoted;
  const RespWords result = SplitRespWords(line, 10, words, unquoted);
  EXPECT_NE(result, RespWords::kTooMany);
  if (result != RespWords::kSplit) return std::nullopt;
  return Words(words.begin(), words.end());
}

TEST(RespWordsTest, QuotesAreThoseOfRedis) {
  const struct {
    std::string line;
    Words words;
  } cases[] = {
      {R"(a "b c" d)", {"a", "b c", "d"}},
      {R"("")", {""}},
      {R"('')", {""}},
      {R"(x"y z")", {"xy z"}},
      {R"("\n\r\t\b\a\q\"\\")", {"\n\r\t\b\aq\"\\"}},
      {R"("\x41\x0a\x4g\x4")", {"A\nx4gx4"}},
      {R"('\n\'')", {"\\n'"}},
      {R"('"' "'")", {"\"", "'"}},
      {"a\vb", {"a\vb"}},
      {"\v\fa", {"a"}},
      {"\"a\"\v\"b\"", {"a", "b"}},
      {"a\rb", {"a", "b"}},
      {"a\0b"s, {"a\0b"s}},
      {R"(a\ b)", {"a\\", "b"}},
  };
  for (const auto& [line, words] : cases) {
    EXPECT_EQ(Split(line), words) << line;
  }
}

TEST(RespWordsTest, QuotesThatDoNotCloseOrDoNotEndTheWordAreRefused) {
  for (const std::string_view line : {"\"", "'", "a \"b", "a 'b", "\"a\"b", "'a'b", "'a''b'",
                                      "\"a\\\"", "'a\\'", "\"\\", "\"a\"'b'"}) {
    EXPECT_EQ(Split(line), std::nullopt) << line;
  }
}

TEST(RespWordsTest, WordsAreCountedQuotedOrNot) {
  std::vector<std::string_view> words;
  std::string unquoted;
  EXPECT_EQ(SplitRespWords("a 'b' c ", 3, words, unquoted), RespWords::kSplit);
  EXPECT_EQ(SplitRespWords("a 'b' c ''", 3, words, unquoted), RespWords::kTooMany);
}

}  // namespace
}  // namespace weir::wire
