#include "rule/forwarded.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::rule {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr ForwardedHeader kXff = ForwardedHeader::kXForwardedFor;
constexpr ForwardedHeader kRfc = ForwardedHeader::kForwarded;

// All that the walk yields, as text, the nearest first.
std::vector<std::string> Hops(ForwardedHeader header, HeaderFields fields) {
  std::vector<std::string> hops;
  ForwardedWalk walk(header, fields);
  while (const auto hop = walk.Next()) hops.push_back(hop->ToString());
  EXPECT_FALSE(walk.Next());  // the end stays the end
  return hops;
}

std::vector<std::string> XForwardedFor(std::string_view value) {
  const std::vector<HeaderField> fields = {{"X-Forwarded-For", value}};
  return Hops(kXff, fields);
}

std::vector<std::string> Forwarded(std::string_view value) {
  const std::vector<HeaderField> fields = {{"Forwarded", value}};
  return Hops(kRfc, fields);
}

TEST(XForwardedForTest, IsReadFromRightToLeft) {
  EXPECT_THAT(XForwardedFor("203.0.113.7, 10.0.0.2,10.0.0.1"),
              ElementsAre("10.0.0.1", "10.0.0.2", "203.0.113.7"));
  EXPECT_THAT(XForwardedFor(" \t203.0.113.7\t ,\t10.0.0.2 "),
              ElementsAre("10.0.0.2", "203.0.113.7"));
}

TEST(XForwardedForTest, SeveralLinesAreOneListInTheirOrder) {
  const std::vector<HeaderField> fields = {{"x-forwarded-for", "203.0.113.7, 10.0.0.3"},
                                           {"Forwarded", "for=6.6.6.6"},
                                           {"X-FORWARDED-FOR", "10.0.0.2"},
                                           {"X-Forwarded-Fo", "6.6.6.6"},
                                           {"X-Forwarded-For", "10.0.0.1"}};
  EXPECT_THAT(Hops(kXff, fields), ElementsAre("10.0.0.1", "10.0.0.2", "10.0.0.3", "203.0.113.7"));
  EXPECT_THAT(Hops(kRfc, fields), ElementsAre("6.6.6.6"));
  EXPECT_THAT(Hops(ForwardedHeader::kNone, fields), IsEmpty());
}

TEST(XForwardedForTest, PortsAndBracketsAreLeftOut) {
  EXPECT_THAT(XForwardedFor("203.0.113.7:80"), ElementsAre("203.0.113.7"));
  EXPECT_THAT(XForwardedFor("203.0.113.7:65535"), ElementsAre("203.0.113.7"));
  EXPECT_THAT(XForwardedFor("2001:db8::1"), ElementsAre("2001:db8::1"));
  EXPECT_THAT(XForwardedFor("[2001:db8::1]"), ElementsAre("2001:db8::1"));
  EXPECT_THAT(XForwardedFor("[2001:db8::1]:4711"), ElementsAre("2001:db8::1"));
  EXPECT_THAT(XForwardedFor("::ffff:203.0.113.7"), ElementsAre("203.0.113.7"));
}

TEST(XForwardedForTest, StopsAtAnEntryThatNamesNoAddress) {
  using namespace std::string_view_literals;
  for (const std::string_view entry : {"unknown"sv,
                                       ""sv,
                                       " "sv,
                                       "garbage"sv,
                                       "203.0.113"sv,
                                       "203.0.113.7:"sv,
                                       "203.0.113.7:65536"sv,
                                       "203.0.113.7:000080"sv,
                                       "203.0.113.7:-1"sv,
                                       "203.0.113.07"sv,
                                       "203.0.113.7 8.8.8.8"sv,
                                       "[203.0.113.7]"sv,
                                       "[2001:db8::1"sv,
                                       "[2001:db8::1]x"sv,
                                       "2001:db8::1]"sv,
                                       "[]"sv,
                                       "fe80::1%eth0"sv,
                                       "unix:"sv,
                                       "\"203.0.113.7\""sv,
                                       "203.0.113.7\0"sv,
                                       "203.0.113.7/32"sv}) {
    EXPECT_THAT(XForwardedFor("6.6.6.6, " + std::string(entry) + ", 10.0.0.1"),
                ElementsAre("10.0.0.1"))
        << entry;
  }
}

TEST(XForwardedForTest, AnEmptyLineIsAnEmptyEntry) {
  const std::vector<HeaderField> fields = {
      {"X-Forwarded-For", "6.6.6.6"}, {"X-Forwarded-For", ""}, {"X-Forwarded-For", "10.0.0.1"}};
  EXPECT_THAT(Hops(kXff, fields), ElementsAre("10.0.0.1"));
}

TEST(XForwardedForTest, EntriesAreCountedAndMeasured) {
  std::string list = "10.0.0.1";
  for (int i = 1; i < ForwardedWalk::kMostEntries; ++i) list += ", 10.0.0.1";
  EXPECT_EQ(XForwardedFor(list).size(), ForwardedWalk::kMostEntries);
  EXPECT_EQ(XForwardedFor("10.0.0.1, " + list).size(), ForwardedWalk::kMostEntries);

  const std::string blanks(ForwardedWalk::kLongestEntry - 10, ' ');
  EXPECT_THAT(XForwardedFor("6.6.6.6," + blanks + "10.0.0.1"), ElementsAre("10.0.0.1", "6.6.6.6"));
  EXPECT_THAT(XForwardedFor("6.6.6.6,   " + blanks + "10.0.0.1"), IsEmpty());
}

TEST(ForwardedTest, ReadsTheExamplesOfTheStandard) {
  EXPECT_THAT(Forwarded("for=192.0.2.60;proto=http;by=203.0.113.43"), ElementsAre("192.0.2.60"));
  EXPECT_THAT(Forwarded("For=\"[2001:db8:cafe::17]:4711\""), ElementsAre("2001:db8:cafe::17"));
  EXPECT_THAT(Forwarded("for=192.0.2.43, for=198.51.100.17"),
              ElementsAre("198.51.100.17", "192.0.2.43"));
  EXPECT_THAT(Forwarded("for=192.0.2.43, for=\"[2001:db8:cafe::17]\""),
              ElementsAre("2001:db8:cafe::17", "192.0.2.43"));
  EXPECT_THAT(Forwarded("for=_gazonk"), IsEmpty());
  EXPECT_THAT(Forwarded("for=unknown"), IsEmpty());
  EXPECT_THAT(Forwarded("for=\"_gazonk\""), IsEmpty());
}

TEST(ForwardedTest, TakesTheParameterWhereverItStandsAndHoweverItIsWritten) {
  EXPECT_THAT(Forwarded("proto=https;FOR=\"203.0.113.7:80\";host=a"), ElementsAre("203.0.113.7"));
  EXPECT_THAT(Forwarded("host=\"a,b;for=6.6.6.6\";for=203.0.113.7"), ElementsAre("203.0.113.7"));
  EXPECT_THAT(Forwarded("host=\"\\\",for=6.6.6.6\";for=203.0.113.7"), ElementsAre("203.0.113.7"));
  EXPECT_THAT(Forwarded("host=\"\\\\\",for=203.0.113.7"), ElementsAre("203.0.113.7"));
  EXPECT_THAT(Forwarded(";; for=203.0.113.7 ; ;proto=http;"), ElementsAre("203.0.113.7"));
  EXPECT_THAT(Forwarded("for=\"[2001:db8::1]:_obscured\""), ElementsAre("2001:db8::1"));
}

TEST(ForwardedTest, StopsAtAnElementThatNamesNoAddress) {
  for (const std::string_view element : {"for=unknown",
                                         "for=_hidden",
                                         "for=\"_hidden:80\"",
                                         "proto=https",
                                         "",
                                         ";",
                                         "for=",
                                         "for",
                                         "for=\"\"",
                                         "=203.0.113.7",
                                         "for =203.0.113.7",
                                         "203.0.113.7",
                                         "for=203.0.113.7;for=8.8.8.8",
                                         "for=203.0.113.7;x",
                                         "for=203.0.113.7;pro to=x",
                                         "for=\"203.0.113.7\"x",
                                         "for=\"203.0.113\\.7\"",
                                         "for=\"203.0.113.7",
                                         "for=203.0.113.7\"",
                                         "xfor=203.0.113.7",
                                         "for=203.0.113.7 proto=http",
                                         "for=\"203.0.113.7\\\""}) {
    EXPECT_THAT(Forwarded("for=6.6.6.6, " + std::string(element) + ", for=10.0.0.1"),
                ElementsAre("10.0.0.1"))
        << element;
  }
}

TEST(ForwardedTest, AQuoteThatTheClientLeavesOpenSwallowsNothing) {
  for (const std::string_view left :
       {"for=\"", "for=\"6.6.6.6, for=\\", "\"\"\"", "\\", "for=\"a\\\"", ",\","}) {
    const auto hops = Forwarded(std::string(left) + ", for=203.0.113.7, for=\"10.0.0.1:80\"");
    ASSERT_GE(hops.size(), 2U) << left;
    EXPECT_EQ(hops[0], "10.0.0.1");
    EXPECT_EQ(hops[1], "203.0.113.7");
  }
}

}  // namespace
}  // namespace weir::rule
