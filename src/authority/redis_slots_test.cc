#include "authority/redis_slots.h"

#include <gtest/gtest.h>

#include <string>

namespace weir::authority {
namespace {

const net::Endpoint kAsked{.host = "10.0.0.1", .port = 7000, .path = {}};

std::optional<std::vector<SlotRange>> Slots(const std::string& bytes) {
  wire::RespValueReader reader;
  const wire::RespAnswer answer = reader.Read(bytes);
  EXPECT_EQ(answer.status, wire::RespValueStatus::kValue) << bytes;
  return ReadSlots(answer.value, kAsked);
}

TEST(RedisSlotsTest, ASlotIsTheOneThatRedisComputes) {
  EXPECT_EQ(SlotOf("123456789"), 12739);  // 0x31C3, of the specification
  EXPECT_EQ(SlotOf("foo"), 12182);
  EXPECT_EQ(SlotOf(""), 0);
}

TEST(RedisSlotsTest, WhatIsBetweenTheFirstBracesDecidesIfThereIsSomething) {
  EXPECT_EQ(SlotOf("{foo}bar"), SlotOf("foo"));
  EXPECT_EQ(SlotOf("x{foo}y{bar}"), SlotOf("foo"));
  EXPECT_EQ(SlotOf("x{{foo}}y"), SlotOf("{foo"));
  EXPECT_NE(SlotOf("x{}{foo}"), SlotOf("foo"));
  EXPECT_NE(SlotOf("x{foo"), SlotOf("foo"));
}

TEST(RedisSlotsTest, TheMapNamesTheMasterOfEachRange) {
  const auto slots = Slots(
      "*2\r\n*4\r\n:0\r\n:100\r\n*3\r\n$8\r\n10.0.0.2\r\n:7001\r\n$2\r\nid\r\n"
      "*3\r\n$8\r\n10.0.0.9\r\n:7009\r\n$2\r\nid\r\n"
      "*3\r\n:101\r\n:16383\r\n*3\r\n$0\r\n\r\n:7002\r\n$2\r\nid\r\n");
  ASSERT_TRUE(slots.has_value());
  const std::vector<SlotRange> expected = {
      {.first = 0, .last = 100, .master = {.host = "10.0.0.2", .port = 7001, .path = {}}},
      {.first = 101, .last = 16'383, .master = {.host = "10.0.0.1", .port = 7002, .path = {}}}};
  EXPECT_EQ(*slots, expected);
}

TEST(RedisSlotsTest, WhatIsNoMapIsRefused) {
  for (const char* bytes : {
           "-ERR This instance has cluster support disabled\r\n",
           "*1\r\n:1\r\n",
           "*1\r\n*2\r\n:0\r\n:1\r\n",
           "*1\r\n*3\r\n:5\r\n:4\r\n*2\r\n$1\r\nh\r\n:1\r\n",
           "*1\r\n*3\r\n:0\r\n:16384\r\n*2\r\n$1\r\nh\r\n:1\r\n",
           "*1\r\n*3\r\n:0\r\n:1\r\n*2\r\n$1\r\nh\r\n:0\r\n",
       }) {
    EXPECT_FALSE(Slots(bytes).has_value()) << bytes;
  }
  EXPECT_TRUE(Slots("*0\r\n")->empty());
}

TEST(RedisSlotsTest, AMasterThatSentinelsNameHasAllSlots) {
  const auto read = [](const std::string& bytes) {
    wire::RespValueReader reader;
    return ReadMaster(reader.Read(bytes).value);
  };
  const auto master = read("*2\r\n$8\r\n10.0.0.2\r\n$4\r\n6379\r\n");
  ASSERT_TRUE(master.has_value());
  const std::vector<SlotRange> expected = {
      {.first = 0, .last = 16'383, .master = {.host = "10.0.0.2", .port = 6379, .path = {}}}};
  EXPECT_EQ(*master, expected);
  for (const char* bytes : {"_\r\n", "*-1\r\n", "-ERR No such master\r\n", "*0\r\n",
                            "*2\r\n$1\r\nh\r\n$1\r\nx\r\n", "*2\r\n$0\r\n\r\n$1\r\n1\r\n"}) {
    EXPECT_FALSE(read(bytes).has_value()) << bytes;
  }
}

TEST(RedisSlotsTest, ARedirectionNamesTheNode) {
  const Redirection moved{.kind = Redirection::Kind::kMoved,
                          .slot = 3999,
                          .to = {.host = "10.0.0.2", .port = 6381, .path = {}}};
  EXPECT_EQ(ReadRedirection("MOVED 3999 10.0.0.2:6381", kAsked), moved);
  const Redirection ask{.kind = Redirection::Kind::kAsk,
                        .slot = 1,
                        .to = {.host = "fe80::1", .port = 6381, .path = {}}};
  EXPECT_EQ(ReadRedirection("ASK 1 fe80::1:6381", kAsked), ask);
  EXPECT_EQ(ReadRedirection("MOVED 1 :6381", kAsked)->to.host, "10.0.0.1");
}

TEST(RedisSlotsTest, OtherErrorsAreNone) {
  for (const char* error :
       {"", "ERR", "MOVED", "MOVED 1", "MOVED 1 host", "MOVED 16384 h:1", "MOVED x h:1",
        "MOVED 1 h:0", "MOVED 1 h:65536", "ASKED 1 h:1", "MOVED:1 2 h"}) {
    EXPECT_FALSE(ReadRedirection(error, kAsked).has_value()) << error;
  }
}

}  // namespace
}  // namespace weir::authority
