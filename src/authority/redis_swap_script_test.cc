#include "authority/redis_swap_script.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace weir::authority {
namespace {

using std::chrono::milliseconds;

// What the script answered, if it is an answer about one key.
std::optional<SwapReply> Read(std::string_view bytes, std::vector<std::string_view>& held) {
  static wire::RespValueReader reader;
  reader.Reset();
  const wire::RespAnswer answer = reader.Read(bytes);
  EXPECT_EQ(answer.status, wire::RespValueStatus::kValue) << bytes;
  return ReadSwapAnswer(answer.value, 1, held);
}

TEST(RedisSwapScriptTest, SaysForEachKeyWhatWasSeenAndWhatItIsToHold) {
  const std::vector<SwapKey> keys = {
      {.name = "a", .seen = "S12345678", .value = "S87654321x", .ttl = milliseconds(1500)},
      {.name = "b", .seen = "", .value = ""}};
  std::string command;
  AppendSwapCommand(keys, "weir:", SwapClock::kOfRedis, milliseconds(2000), command);
  EXPECT_TRUE(command.starts_with("*12\r\n$7\r\nEVALSHA\r\n$40\r\n"));
  EXPECT_TRUE(
      command.ends_with("$1\r\n2\r\n$6\r\nweir:a\r\n$6\r\nweir:b\r\n$1\r\n1\r\n"
                        "$9\r\nS12345678\r\n$10\r\nS87654321x\r\n$4\r\n3500\r\n"
                        "$0\r\n\r\n$0\r\n\r\n$4\r\n2000\r\n"))
      << command;
}

TEST(RedisSwapScriptTest, ReadsWhetherItWasAsSeenAndOtherwiseWhatIsThere) {
  std::vector<std::string_view> held;
  const auto swapped = Read("*3\r\n:1\r\n:1700000000\r\n:250000\r\n", held);
  ASSERT_TRUE(swapped);
  EXPECT_TRUE(swapped->is_as_seen);
  EXPECT_EQ(swapped->now, Instant(milliseconds(1'700'000'000'250)));
  const auto other = Read("*4\r\n:0\r\n:1700000000\r\n:0\r\n$3\r\nabc\r\n", held);
  ASSERT_TRUE(other);
  EXPECT_FALSE(other->is_as_seen);
  ASSERT_EQ(other->held.size(), 1U);
  EXPECT_EQ(other->held[0], "abc");
}

TEST(RedisSwapScriptTest, TakesNothingElseForAnAnswer) {
  std::vector<std::string_view> held;
  for (const char* bytes :
       {"+OK\r\n", "*0\r\n", "*2\r\n:1\r\n:1\r\n", "*3\r\n:0\r\n:1\r\n:1\r\n",
        "*4\r\n:1\r\n:1\r\n:1\r\n$1\r\na\r\n", "*4\r\n:0\r\n:1\r\n:1\r\n:5\r\n",
        "*3\r\n:1\r\n:-1\r\n:1\r\n", "*3\r\n:1\r\n:1\r\n:1000000\r\n",
        "*3\r\n:1\r\n:9223372036854775807\r\n:1\r\n", "*3\r\n$1\r\n1\r\n:1\r\n:1\r\n"}) {
    EXPECT_FALSE(Read(bytes, held)) << bytes;
  }
}

}  // namespace
}  // namespace weir::authority
