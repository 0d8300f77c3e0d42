#include "wire/resp_reply.h"

#include <gtest/gtest.h>

#include <limits>

namespace weir::wire {
namespace {

template <typename Write>
std::string Written(RespVersion version, Write write) {
  std::string out = "before";  // stays
  RespWriter writer(out, version);
  write(writer);
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

TEST(RespReplyTest, IntegersInOneGoAreTheSameAsOneByOne) {
  const std::int64_t least = std::numeric_limits<std::int64_t>::min();
  const std::string one_by_one = Written([least](RespWriter& w) {
    for (const std::int64_t value : {0, 9, 10, -1, 123}) w.Integer(value);
    for (int i = 0; i < 9; ++i) w.Integer(least);
  });
  EXPECT_EQ(one_by_one, Written([least](RespWriter& w) {
              w.Integers({0, 9, 10, -1, 123, least, least, least, least, least, least, least, least,
                          least});
            }));
  EXPECT_EQ(Written([](RespWriter& w) { w.Integers({}); }), "");
  EXPECT_EQ(Written([](RespWriter& w) { w.IntegerArray({-1, 25}); }), "*2\r\n:-1\r\n:25\r\n");
  EXPECT_EQ(Written([](RespWriter& w) { w.IntegerArray({}); }), "*0\r\n");
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

TEST(RespReplyTest, WhatAClientSentCannotBeginAReplyOfItsOwn) {
  EXPECT_EQ(Written([](RespWriter& w) { w.Error("ERR unknown command 'x\r\n+OK\n\r'"); }),
            "-ERR unknown command 'x  +OK  '\r\n");
  EXPECT_EQ(Written([](RespWriter& w) { w.Simple("a\nb"); }), "+a b\r\n");
}

}  // namespace
}  // namespace weir::wire
