// Text that means harm, or no good: too much of it, too deep, not text at all. tests/wrong_rules
// has the mistakes of people.
#include "rule/yaml.h"

#include <gtest/gtest.h>

namespace weir::rule {
namespace {

std::string Repeat(std::string_view text, std::size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (std::size_t i = 0; i < times; ++i) all += text;
  return all;
}

YamlNode Read(const std::string& text) {
  YamlNode root;
  Problems problems;
  EXPECT_TRUE(ReadYaml(text, "f", root, problems));
  for (const Problem& problem : problems) ADD_FAILURE() << problem.ToString();
  return root;
}

std::string WhatIsWrongWith(const std::string& text, const YamlLimits& limits = {}) {
  YamlNode root;
  Problems problems;
  if (ReadYaml(text, "f", root, problems, limits)) return "nothing";
  EXPECT_EQ(problems.size(), 1U);
  return problems.empty() ? "not said" : problems[0].ToString();
}

TEST(YamlTest, ANodeKnowsWhereItStood) {
  const YamlNode root = Read("a: 1\nb:\n  - x\n  - {c: \"y\"}\n");
  ASSERT_EQ(root.kind, YamlNode::Kind::kMap);
  EXPECT_EQ(root.map[1].place, (Place{2, 1}));
  const YamlNode& list = root.map[1].value;
  ASSERT_EQ(list.list.size(), 2U);
  EXPECT_EQ(list.list[0].place, (Place{3, 5}));
  EXPECT_FALSE(list.list[0].quoted);
  const YamlNode& y = list.list[1].map[0].value;
  EXPECT_EQ(y.place, (Place{4, 9}));
  EXPECT_TRUE(y.quoted);
}

TEST(YamlTest, NothingStandsWhereItsKeyDoes) {
  const YamlNode root = Read("a:\n\n\nb: 1\n");
  EXPECT_EQ(root.map[0].value.kind, YamlNode::Kind::kNull);
  EXPECT_EQ(root.map[0].value.place, (Place{1, 1}));
}

TEST(YamlTest, LinesMayEndAsOnWindowsAndBeginWithAByteOrderMark) {
  const YamlNode root = Read(
      "\xEF\xBB\xBF"
      "a: 1\r\nb: 2\r\n");
  ASSERT_EQ(root.map.size(), 2U);
  EXPECT_EQ(root.map[0].key, "a");
  EXPECT_EQ(root.map[0].value.scalar, "1");
  EXPECT_EQ(root.map[1].place, (Place{2, 1}));
}

// --- too much

TEST(YamlTest, TextAboveTheLimitIsNotLookedAt) {
  YamlLimits limits;
  limits.bytes = 1 << 20;
  EXPECT_EQ(WhatIsWrongWith(std::string((1 << 20) + 1, '\xFF'), limits),
            "f: the file is larger than 1 MiB; split it");
  EXPECT_EQ(WhatIsWrongWith("#" + std::string((1 << 20) - 1, 'x'), limits), "nothing");
}

TEST(YamlTest, ThereAreOnlySoManyValues) {
  YamlLimits limits;
  limits.nodes = 100;
  EXPECT_EQ(WhatIsWrongWith(Repeat("- a\n", 99), limits), "nothing");  // and the list
  EXPECT_EQ(WhatIsWrongWith(Repeat("- a\n", 100), limits),
            "f:100:3: more than 100 values; split the file");
}

TEST(YamlTest, ThirtyTwoLevelsAreTheMost) {
  EXPECT_EQ(WhatIsWrongWith(Repeat("[", 32) + Repeat("]", 32)), "nothing");
  const std::string wrong = "f:1:33: nested deeper than 32 levels; no rule needs that";
  EXPECT_EQ(WhatIsWrongWith(Repeat("[", 33) + Repeat("]", 33)), wrong);
}

// The column shows that reading ended there.
TEST(YamlTest, AMillionBracketsAreRefusedAtTheThirtyThirdLevel) {
  const std::string wrong = "nested deeper than 32 levels; no rule needs that";
  const std::string open =
      "this is not closed, or stands where a key should, which is text; close the bracket, or "
      "write 'name: value'";
  EXPECT_EQ(WhatIsWrongWith(Repeat("[", 500'000) + Repeat("]", 500'000)), "f:1:33: " + wrong);
  EXPECT_EQ(WhatIsWrongWith("a: " + Repeat("[", 1'000'000)), "f:1:5: " + open);
  EXPECT_EQ(WhatIsWrongWith(Repeat("- ", 1'000'000)), "f:1:65: " + wrong);
  EXPECT_EQ(WhatIsWrongWith("a:\n " + Repeat("? ", 100'000)), "f:2:4: " + open);
}

TEST(YamlTest, DeepIndentationIsRefusedAtTheThirtyThirdLevel) {
  std::string text;
  for (int i = 0; i < 2000; ++i) text += std::string(i, ' ') + "a:\n";
  EXPECT_EQ(WhatIsWrongWith(text), "f:33:33: nested deeper than 32 levels; no rule needs that");
}

// The parser remembers all of it before it says anything: several hundred bytes for each bracket.
TEST(YamlTest, TheParserRemembersABoundedPieceAtOnce) {
  const std::string wrong =
      "what follows here, in brackets or as one text, is longer than 1024 KiB; write each element "
      "on a line of its own, behind a dash";
  EXPECT_EQ(WhatIsWrongWith("a: b\nc: [" + Repeat("[", 1'200'000)), "f:2:4: " + wrong);
  EXPECT_EQ(WhatIsWrongWith("- [" + Repeat("1,", 600'000) + "]"), "f:1:1: " + wrong);
  EXPECT_EQ(WhatIsWrongWith("a: \"" + Repeat("x", 1'200'000) + "\""), "f:1:1: " + wrong);
  EXPECT_EQ(WhatIsWrongWith("a: " + Repeat("x", 1'200'000)), "f:1:1: " + wrong);
}

TEST(YamlTest, LongLinesAndLongListsAreFine) {
  EXPECT_EQ(Read("a: " + Repeat("x", 900'000)).map[0].value.scalar.size(), 900'000U);
  EXPECT_EQ(Read("a: [" + Repeat("1, ", 20'000) + "]").map[0].value.list.size(), 20'000U);
  EXPECT_EQ(Read(Repeat("- {a: [b, c]}\n", 20'000)).list.size(), 20'000U);
  EXPECT_EQ(Read(Repeat("- \"[[[{{\"\n", 1000)).list.size(), 1000U);
}

TEST(YamlTest, AliasesDoNotExplode) {
  std::string text = "a: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    text += "b" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + Repeat(last + ", ", 10) +
            "]\n";
  }
  EXPECT_EQ(WhatIsWrongWith(text), "f:1:4: anchors (&name) are not read; write the value out");
}

TEST(YamlTest, AMergeKeyIsAKeyLikeAnyOther) {
  EXPECT_EQ(Read("<<: {a: 1}\nb: 2\n").map[0].key, "<<");
}

// --- not text

TEST(YamlTest, BytesThatAreNotUtf8AreRefusedAtTheirPlace) {
  for (const char* bad :
       {"\xFF", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\x80"}) {
    EXPECT_EQ(WhatIsWrongWith(std::string("a: b\nc: ") + bad),
              "f:2:4: this is not UTF-8; save the file as UTF-8");
  }
  EXPECT_EQ(WhatIsWrongWith("c: \xE2\x82\xAC\xF0\x9F\x98\x80"), "nothing");
}

// The parser takes byte 4 for the end of the text: what follows would go unseen.
TEST(YamlTest, ControlCharactersAreRefused) {
  EXPECT_EQ(WhatIsWrongWith("a: b\n\x04\nc: d\n"),
            "f:2:1: there is a control character here; remove it");
  EXPECT_EQ(WhatIsWrongWith(std::string("a: b\n\0c: d\n", 11)),
            "f:2:1: this is not UTF-8; save the file as UTF-8");
  EXPECT_EQ(WhatIsWrongWith("a: \"\\x04\""), "nothing") << "written out it is an honest character";
  EXPECT_EQ(WhatIsWrongWith("a: \"\\0\""), "f:1:4: there is a NUL (\\0) in this text; remove it");
}

// The parser takes the end of the text for the end of the quote, if a line ends before it.
TEST(YamlTest, AQuoteMustBeClosed) {
  for (const char* open : {"\"b", "\"b\\\"", "\"b\\\\\\\"", "'b", "'b''", "'", "\""}) {
    EXPECT_EQ(WhatIsWrongWith(std::string("a: ") + open + "\n"),
              "f:1:4: this quote is not closed; close it")
        << open;
  }
  EXPECT_EQ(WhatIsWrongWith("a: \"b"),
            "f:1:6: this is not YAML: illegal EOF in scalar; close the quote");
  for (const char* closed : {"\"b\"", "\"b\\\"\"", "\"b\\\\\"", "'b'", "'b'''", "''", "\"\""}) {
    EXPECT_EQ(WhatIsWrongWith(std::string("a: ") + closed), "nothing") << closed;
  }
}

TEST(YamlTest, AnEmptyTextIsNothing) {
  for (const char* text : {"", "\n", "# a comment\n", "---\n", "...\n"}) {
    EXPECT_EQ(Read(text).kind, YamlNode::Kind::kNull) << text;
  }
}

TEST(YamlTest, DescribesWhatWasFound) {
  EXPECT_EQ(Read("abc").Describe(), "'abc'");
  EXPECT_EQ(Read("[]").Describe(), "a list");
  EXPECT_EQ(Read("{}").Describe(), "a map");
  EXPECT_EQ(Read("~").Describe(), "nothing");
}

}  // namespace
}  // namespace weir::rule
