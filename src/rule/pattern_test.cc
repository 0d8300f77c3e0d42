#include "rule/pattern.h"

#include <gmock/gmock.h>

#include <random>
#include <string>

#include "rule/regex.h"

namespace weir::rule {
namespace {

using testing::HasSubstr;
using namespace std::string_literals;  // NOLINT(google-build-using-namespace)

bool Holds(PatternKind kind, const std::string& text, std::string_view value) {
  const Pattern pattern{kind, text};
  EXPECT_FALSE(WhatIsWrong(pattern)) << WhatIsWrong(pattern)->message;
  return Matches(pattern, value);
}

std::string WrongWith(PatternKind kind, const std::string& text) {
  const auto error = WhatIsWrong({kind, text});
  return error ? error->message : "nothing";
}

TEST(GlobTest, TextWithoutStarsStandsForItself) {
  EXPECT_TRUE(GlobMatches("/login", "/login"));
  EXPECT_FALSE(GlobMatches("/login", "/login/"));
  EXPECT_FALSE(GlobMatches("/login", "/logi"));
  EXPECT_TRUE(GlobMatches("", ""));
  EXPECT_FALSE(GlobMatches("", "a"));
  EXPECT_TRUE(GlobMatches("a[b]\\c.", "a[b]\\c."));
}

TEST(GlobTest, AStarStopsAtASlash) {
  EXPECT_TRUE(GlobMatches("/api/*", "/api/users"));
  EXPECT_TRUE(GlobMatches("/api/*", "/api/"));
  EXPECT_FALSE(GlobMatches("/api/*", "/api/users/7"));
  EXPECT_TRUE(GlobMatches("/api/*/7", "/api/users/7"));
  EXPECT_FALSE(GlobMatches("/api/*/7", "/api/users/x/7"));
  EXPECT_TRUE(GlobMatches("*.example.com", "a.b.example.com"));
  EXPECT_FALSE(GlobMatches("*.example.com", "example.com"));
}

TEST(GlobTest, TwoStarsDoNot) {
  EXPECT_TRUE(GlobMatches("/api/**", "/api/"));
  EXPECT_TRUE(GlobMatches("/api/**", "/api/users/7"));
  EXPECT_FALSE(GlobMatches("/api/**", "/api"));
  EXPECT_TRUE(GlobMatches("/a/**/z", "/a/b/c/z"));
  EXPECT_FALSE(GlobMatches("/a/**/z", "/a/z"));
  EXPECT_TRUE(GlobMatches("**/z", "/a/z"));
  EXPECT_TRUE(GlobMatches("***", "a/b"));
}

TEST(GlobTest, AQuestionMarkIsOneCharacterButNoSlash) {
  EXPECT_TRUE(GlobMatches("v?", "v1"));
  EXPECT_FALSE(GlobMatches("v?", "v"));
  EXPECT_FALSE(GlobMatches("v?", "v10"));
  EXPECT_FALSE(GlobMatches("v?", "v/"));
  EXPECT_TRUE(GlobMatches("?**", "a/b"));
  EXPECT_FALSE(GlobMatches("?**", "/b"));
}

TEST(GlobTest, AStarInTheValueIsAnOrdinaryCharacter) {
  EXPECT_TRUE(GlobMatches("a*b", "a*b"));
  EXPECT_FALSE(GlobMatches("ab", "a*b"));
  EXPECT_TRUE(GlobMatches("?", "*"));
}

TEST(GlobTest, WhatAStarTookTooEarlyATwoStarGivesBack) {
  EXPECT_TRUE(GlobMatches("**a*b", "a/axb"));
  EXPECT_TRUE(GlobMatches("**/a*c/d", "/ab/abc/d"));
  EXPECT_FALSE(GlobMatches("**/a*c/d", "/ab/ab/d"));
}

TEST(GlobTest, ManyStarsTakeNoLongerThanGlobTimesValue) {
  const std::string value(4096, 'a');
  std::string stars;
  std::string double_stars;
  for (int i = 0; i < 200; ++i) {
    stars += "*a";
    double_stars += "**a*a";
  }
  EXPECT_FALSE(GlobMatches(stars + "*b", value));
  EXPECT_TRUE(GlobMatches(stars + "*b", value + "b"));
  EXPECT_FALSE(GlobMatches(double_stars + "*b", value));
  EXPECT_TRUE(GlobMatches(double_stars + "*b", value + "b"));
}

// What a glob means, in as few words as possible.
bool Means(std::string_view glob, std::string_view value) {
  if (glob.empty()) return value.empty();
  const bool both = glob.starts_with("**");
  if (glob[0] == '*') {
    if (Means(glob.substr(both ? 2 : 1), value)) return true;
    return !value.empty() && (both || value[0] != '/') && Means(glob, value.substr(1));
  }
  if (value.empty()) return false;
  return (glob[0] == value[0] || (glob[0] == '?' && value[0] != '/')) &&
         Means(glob.substr(1), value.substr(1));
}

TEST(GlobTest, AgreesWithItsDefinitionOnRandomGlobs) {
  std::mt19937 random(1);
  const auto any = [&](std::string_view letters, std::size_t longest) {
    std::string text(random() % (longest + 1), ' ');
    for (char& c : text) c = letters[random() % letters.size()];
    return text;
  };
  int matched = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::string glob = any("aab/**?", 9);
    const std::string value = any("aab/", 12);
    const bool expected = Means(glob, value);
    matched += expected ? 1 : 0;
    ASSERT_EQ(GlobMatches(glob, value), expected) << glob << " on " << value;
  }
  EXPECT_GT(matched, 1000);
}

TEST(PatternTest, ExactComparesAllOfTheValue) {
  EXPECT_TRUE(Holds(PatternKind::kExact, "POST", "POST"));
  EXPECT_FALSE(Holds(PatternKind::kExact, "POST", "POSTS"));
  EXPECT_FALSE(Holds(PatternKind::kExact, "POST", "post"));
  EXPECT_TRUE(Holds(PatternKind::kExact, "a*b", "a*b"));
  EXPECT_FALSE(Holds(PatternKind::kExact, "a*b", "axb"));
}

TEST(PatternTest, PrefixIsWhatTheValueBeginsWith) {
  EXPECT_TRUE(Holds(PatternKind::kPrefix, "/api/", "/api/"));
  EXPECT_TRUE(Holds(PatternKind::kPrefix, "/api/", "/api/x"));
  EXPECT_FALSE(Holds(PatternKind::kPrefix, "/api/", "/api"));
  EXPECT_TRUE(Holds(PatternKind::kPrefix, "", ""));
}

TEST(PatternTest, AnAbsentValueMatchesNothingAndAnEmptyOneIsThere) {
  for (const PatternKind kind : {PatternKind::kExact, PatternKind::kPrefix, PatternKind::kGlob,
                                 PatternKind::kRegex, PatternKind::kPresent}) {
    EXPECT_TRUE(Holds(kind, "", "")) << static_cast<int>(kind);
    EXPECT_FALSE(Holds(kind, "", std::string_view())) << static_cast<int>(kind);
  }
}

TEST(PatternTest, ARegexMatchesTheWholeValue) {
  EXPECT_TRUE(Holds(PatternKind::kRegex, "v[0-9]+", "v12"));
  EXPECT_FALSE(Holds(PatternKind::kRegex, "v[0-9]+", "v12x"));
  EXPECT_FALSE(Holds(PatternKind::kRegex, "v[0-9]+", "xv12"));
  EXPECT_TRUE(Holds(PatternKind::kRegex, "a|b", "b"));
  EXPECT_FALSE(Holds(PatternKind::kRegex, "a|b", "ab"));
}

TEST(PatternTest, NoByteSlipsPastTheDotOfARegex) {
  EXPECT_TRUE(Holds(PatternKind::kRegex, "/api/.*", "/api/\n"));
  EXPECT_TRUE(Holds(PatternKind::kRegex, "/api/.", "/api/\xFF"));
  EXPECT_TRUE(Holds(PatternKind::kRegex, "/api/..x", "/api/\xC3\x28x"));
  EXPECT_TRUE(Holds(PatternKind::kRegex, ".", "\xC3\xA9"));
  EXPECT_TRUE(Holds(PatternKind::kRegex, "a.b", "a\0b"s));
  EXPECT_FALSE(Holds(PatternKind::kRegex, "ab", "a\xFF"));
}

TEST(PatternTest, ACidrHoldsAddresses) {
  EXPECT_TRUE(Holds(PatternKind::kCidr, "10.0.0.0/8", "10.255.0.1"));
  EXPECT_TRUE(Holds(PatternKind::kCidr, "10.0.0.0/8", "::ffff:10.255.0.1"));
  EXPECT_FALSE(Holds(PatternKind::kCidr, "10.0.0.0/8", "11.0.0.1"));
  EXPECT_FALSE(Holds(PatternKind::kCidr, "10.0.0.0/8", "ten"));
  EXPECT_FALSE(Holds(PatternKind::kCidr, "10.0.0.0/8", std::string_view()));
  EXPECT_TRUE(Holds(PatternKind::kCidr, "10.1.2.3", "10.1.2.3"));
}

TEST(PatternTest, WhatIsWrongIsNamedWithTheRemedy) {
  EXPECT_THAT(WrongWith(PatternKind::kRegex, "a(b"), HasSubstr("missing )"));
  EXPECT_THAT(WrongWith(PatternKind::kRegex, "a(b"), HasSubstr("'a(b' is no RE2 expression"));
  EXPECT_THAT(WrongWith(PatternKind::kRegex, "(a)\\1"), HasSubstr("invalid escape sequence"));
  EXPECT_THAT(WrongWith(PatternKind::kRegex, "((a{100}){100}){100}"), HasSubstr("repetition size"));
  EXPECT_THAT(WrongWith(PatternKind::kRegex, std::string(1025, 'a')), HasSubstr("got 1025"));
  EXPECT_EQ(WrongWith(PatternKind::kRegex, std::string(1024, 'a')), "nothing");
  EXPECT_THAT(WrongWith(PatternKind::kRegex, "\xFF"), HasSubstr("must be UTF-8"));
  EXPECT_THAT(WrongWith(PatternKind::kGlob, std::string(1025, '*')), HasSubstr("got 1025"));
  EXPECT_EQ(WrongWith(PatternKind::kGlob, std::string(1024, '*')), "nothing");
  EXPECT_THAT(WrongWith(PatternKind::kExact, std::string(4097, 'a')), HasSubstr("4096 bytes"));
  EXPECT_EQ(WrongWith(PatternKind::kExact, std::string(4096, 'a')), "nothing");
  EXPECT_THAT(WrongWith(PatternKind::kPrefix, std::string(4097, 'a')), HasSubstr("a prefix may"));
  EXPECT_THAT(WrongWith(PatternKind::kCidr, "10.1.0.0/8"), HasSubstr("zeros behind them"));
  EXPECT_THAT(WrongWith(PatternKind::kCidr, "nowhere"), HasSubstr("'nowhere' is no network"));
  EXPECT_THAT(WrongWith(PatternKind::kPresent, "x"), HasSubstr("{exact: ...}"));
}

TEST(RegexTest, KnowsWhatEveryMatchBeginsWith) {
  EXPECT_THAT("/svc-123/v1/x", testing::StartsWith(RequiredPrefix("/svc-123/v\\d+/.*")));
  EXPECT_GE(RequiredPrefix("/svc-123/v\\d+/.*").size(), 9U);
  EXPECT_EQ(RequiredPrefix("ab|cd"), "");
  EXPECT_EQ(RequiredPrefix(".*x"), "");
  EXPECT_EQ(RequiredPrefix("(?i)abc"), "");
  EXPECT_EQ(RequiredPrefix("\xC3\xA9.*"), "");
}

}  // namespace
}  // namespace weir::rule
