#include "server/request_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(RequestTextTest, ReadsNamesAndValuesInTheirOrder) {
  EXPECT_THAT(ParseRequest("path=/login  ip=10.1.2.3\tquery.q=a=b empty=").value(),
              ElementsAre(Pair("path", "/login"), Pair("ip", "10.1.2.3"), Pair("query.q", "a=b"),
                          Pair("empty", "")));
  EXPECT_THAT(ParseRequest(" ").value(), IsEmpty());
}

TEST(RequestTextTest, QuotesKeepBlanksAndABackslashTakesTheNextCharacter) {
  EXPECT_THAT(
      ParseRequest(R"(a="b c" d='e "f"' 'g h'=i j=k\ l\"m)").value(),
      ElementsAre(Pair("a", "b c"), Pair("d", "e \"f\""), Pair("g h", "i"), Pair("j", "k l\"m")));
}

TEST(RequestTextTest, HeadersAreInLowerCaseAndOtherNamesAsTheyAre) {
  EXPECT_THAT(ParseRequest("header.X-Plan=Pro Plan=Pro").value(),
              ElementsAre(Pair("header.x-plan", "Pro"), Pair("Plan", "Pro")));
}

TEST(RequestTextTest, WhatIsNoAttributeIsRefused) {
  for (const char* text : {"path", "=x", "a=b c", "a='b", "a=\"b c", "a=b \"c=d"}) {
    EXPECT_FALSE(ParseRequest(text).ok()) << text;
  }
}

}  // namespace
}  // namespace weir
