#include "wire/resp_reply.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace weir::wire {
namespace {

template <typename Write>
std::string Written(RespVersion version, Write write) {
  std::string out = "before";  // stays
  {
    RespWriter writer(out, version);
    write(writer);
  }
  EXPECT_TRUE(out.starts_with("before"));
  return out.substr(6);
}

// The same in both versions.
template <typename Write>
std::string Written(Write write) {
  const std::string out = Written(RespVersion::k2, write);
  EXPECT_EQ(out, Written(RespVersion::k3, write));
  return out;
}

TEST(RespReplyTest, SimpleTypesAreTheSameInBothVersions) {
  EXPECT_EQ(Written([](RespWriter& w) { w.Simple("OK"); }), "+OK\r\n");
  EXPECT_EQ(Written([](RespWriter& w) { w.Error("ERR no"); }), "-ERR no\r\n");
  EXPECT_EQ(Written([](RespWriter& w) { w.Integer(0); }), ":0\r\n");
  EXPECT_EQ(Written([](RespWriter& w) { w.Integer(std::numeric_limits<std::int64_t>::min()); }),
            ":-9223372036854775808\r\n");
  EXPECT_EQ(Written([](RespWriter& w) { w.Integer(std::numeric_limits<std::int64_t>::max()); }),
            ":9223372036854775807\r\n");
  EXPECT_EQ(Written([](RespWriter& w) { w.Bulk(""); }), "$0\r\n\r\n");
  EXPECT_EQ(Written([](RespWriter& w) { w.Bulk("a\r\nb"); }), "$4\r\na\r\nb\r\n");
  EXPECT_EQ(Written([](RespWriter& w) {
              w.Array(2);
              w.Integer(1);
              w.Array(0);
            }),
            "*2\r\n:1\r\n*0\r\n");
}

TEST(RespReplyTest, WhatRespTwoLacksItGetsAsRedisGivesIt) {
  const struct {
    void (*write)(RespWriter&);
    std::string_view v2;
    std::string_view v3;
  } cases[] = {
      {[](RespWriter& w) { w.Null(); }, "$-1\r\n", "_\r\n"},
      {[](RespWriter& w) { w.Bool(true); }, ":1\r\n", "#t\r\n"},
      {[](RespWriter& w) { w.Bool(false); }, ":0\r\n", "#f\r\n"},
      {[](RespWriter& w) { w.Map(2); }, "*4\r\n", "%2\r\n"},
      {[](RespWriter& w) { w.Verbatim("a\nb"); }, "$3\r\na\nb\r\n", "=7\r\ntxt:a\nb\r\n"},
      {[](RespWriter& w) { w.Double(0.1); }, "$3\r\n0.1\r\n", ",0.1\r\n"},
      {[](RespWriter& w) { w.Double(-2); }, "$2\r\n-2\r\n", ",-2\r\n"},
      {[](RespWriter& w) { w.Double(-std::numeric_limits<double>::infinity()); }, "$4\r\n-inf\r\n",
       ",-inf\r\n"},
      {[](RespWriter& w) { w.Double(-std::numeric_limits<double>::quiet_NaN()); }, "$3\r\nnan\r\n",
       ",nan\r\n"},
      {[](RespWriter& w) { w.Double(-std::numeric_limits<double>::max()); },
       "$24\r\n-1.7976931348623157e+308\r\n", ",-1.7976931348623157e+308\r\n"},
  };
  for (const auto& [write, v2, v3] : cases) {
    EXPECT_EQ(Written(RespVersion::k2, write), v2);
    EXPECT_EQ(Written(RespVersion::k3, write), v3);
  }
}

// However much there is of them: a writer holds a few hundred bytes at a time.
TEST(RespReplyTest, PartsInARowAreTheSameAsOneByOne) {
  for (const std::size_t length : {0, 5, 200, 231, 232, 233, 240, 255, 256, 257, 490, 512, 1000}) {
    const std::string text(length, 'x');
    std::vector<std::function<void(RespWriter&)>> parts;
    for (std::int64_t value = -1; value < 100'000; value = value * 7 + 9) {
      parts.emplace_back([=](RespWriter& w) { w.Integers(value, -value, std::int64_t{9}); });
    }
    parts.emplace_back([](RespWriter& w) { w.ArrayOfIntegers(1, -1, 100); });
    parts.emplace_back([](RespWriter& w) { w.Null(); });
    parts.emplace_back([](RespWriter& w) { w.Array(3); });
    parts.emplace_back([&](RespWriter& w) { w.Bulk(text); });
    parts.emplace_back([&](RespWriter& w) { w.Verbatim(text); });
    parts.emplace_back([&](RespWriter& w) { w.Error(text); });
    parts.emplace_back([](RespWriter& w) { w.Bool(true); });
    parts.emplace_back([&](RespWriter& w) { w.Bulk(text); });
    for (const RespVersion version : {RespVersion::k2, RespVersion::k3}) {
      std::string one_by_one;
      for (const auto& part : parts) one_by_one += Written(version, part);
      const auto in_a_row = [&](RespWriter& w) {
        for (const auto& part : parts) part(w);
      };
      EXPECT_EQ(Written(version, in_a_row), one_by_one) << length;
    }
  }
}

TEST(RespReplyTest, IntegersOfAnyLengthAreWrittenWhole) {
  for (const std::int64_t value : {0, 1, 9, 10, 11, 99, 100, 101, 9'999, 10'000, -1, -9, -10}) {
    EXPECT_EQ(Written([=](RespWriter& w) { w.Integer(value); }),
              ":" + std::to_string(value) + "\r\n");
  }
}

TEST(RespReplyTest, AnArrayOfIntegersIsTheSameAsItsParts) {
  EXPECT_EQ(Written([](RespWriter& w) { w.ArrayOfIntegers(0, 17, -1, 12'345); }),
            "*4\r\n:0\r\n:17\r\n:-1\r\n:12345\r\n");
}

TEST(RespReplyTest, KnowsHowMuchThereIsToSendAndHowManyMistakes) {
  std::string out = "before";
  RespWriter writer(out, RespVersion::k2);
  EXPECT_EQ(writer.size(), 6);
  writer.Integer(-1);
  EXPECT_EQ(writer.size(), 11);
  EXPECT_EQ(writer.errors(), 0);
  writer.Error("ERR no");
  EXPECT_EQ(writer.size(), 20);
  EXPECT_EQ(writer.errors(), 1);
  writer.Bulk(std::string(1000, 'x'));
  EXPECT_EQ(writer.size(), 20 + 7 + 1000 + 2);
}

TEST(RespReplyTest, AVersionHoldsFromWhenItIsSet) {
  EXPECT_EQ(Written(RespVersion::k2,
                    [](RespWriter& w) {
                      w.Null();
                      w.set_version(RespVersion::k3);
                      w.Null();
                    }),
            "$-1\r\n_\r\n");
}

TEST(RespReplyTest, WhatAClientSentCannotBeginAReplyOfItsOwn) {
  EXPECT_EQ(Written([](RespWriter& w) { w.Error("ERR unknown command 'x\r\n+OK\n\r'"); }),
            "-ERR unknown command 'x  +OK  '\r\n");
  EXPECT_EQ(Written([](RespWriter& w) { w.Simple("a\nb"); }), "+a b\r\n");
}

}  // namespace
}  // namespace weir::wire
