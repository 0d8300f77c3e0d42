#include "wire/resp_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::wire {
namespace {

using namespace std::string_literals;
using ::testing::ElementsAre;

using Words = std::vector<std::string>;

// The commands of a connection, and how it ended.
struct Outcome {
  std::vector<Words> commands;
  std::string problem;
  std::size_t unread = 0;

  bool operator==(const Outcome&) const = default;
};

// Feeds `bytes` to a reader, `piece` at a time. The buffer is a new one at each step, and what is
// consumed is dropped, as a connection does.
Outcome Feed(std::string_view bytes, std::size_t first, std::size_t piece,
             const RespLimits& limits = {}) {
  RespReader reader(limits);
  Outcome outcome;
  std::vector<std::string_view> arguments;
  std::string buffer;
  for (std::size_t at = 0, size = first; at < bytes.size(); at += size, size = piece) {
    buffer += bytes.substr(at, size);
    for (;;) {
      const std::string moved = buffer;
      const RespRequest request = reader.Read(moved, arguments);
      if (request.status == RespStatus::kBad) {
        outcome.problem = request.problem;
        return outcome;
      }
      if (request.status == RespStatus::kCommand) {
        outcome.commands.emplace_back(arguments.begin(), arguments.end());
      }
      buffer.erase(0, request.consumed);
      if (request.status == RespStatus::kNeedMore) break;
    }
  }
  outcome.unread = buffer.size();
  return outcome;
}

Outcome ReadAll(std::string_view bytes, const RespLimits& limits = {}) {
  return Feed(bytes, bytes.size(), bytes.size(), limits);
}

std::string Array(const Words& words) {
  std::string bytes = "*" + std::to_string(words.size()) + "\r\n";
  for (const std::string& word : words) {
    bytes += "$" + std::to_string(word.size()) + "\r\n" + word + "\r\n";
  }
  return bytes;
}

std::vector<std::string> Samples() {
  return {
      Array({"PING"}),
      Array({"CL.THROTTLE", "user:7", "15", "30", "60", "1"}) + Array({"PING"}) + "PING\r\n",
      Array({"SET", "", "\r\n$3\r\n\0"s}),
      Array(Words(200, "x")),
      "*0\r\n\r\n*-1\r\n*-5\r\nPING\r\n",
      "PING\nPING\r\n  \t \r\nECHO \"a b\\x41\\n\" 'it\\'s'\r\n",
      "ECHO x\"y z\"\r\n",
      "\r\n\r\n\r\n",
      "*2\r\n$4\r\nPING\r\n",
      "PING",
      "*",
      "*2",
      "*2\r",
      "*1\r\n$",
      "*01\r\n",
      "*+1\r\n",
      "*-0\r\n",
      "*\r\n",
      "*1\r$",
      "*1\n",
      "*1025\r\n",
      "*99999999999999999999\r\n",
      "*1\r\n$-1\r\n",
      "*1\r\n$01\r\n",
      "*1\r\n$\r\n",
      "*1\r\n$65537\r\n",
      "*1\r\n:1\r\n",
      "*1\r\n\r\n",
      "*1\r\n$4\r\nPINGPING\r\n",
      "PING\r\nECHO \"a\r\nPING\r\n",
      "ECHO 'a'b\r\n",
      "ECHO \0 x\r\n"s,
      std::string(70'000, 'x') + "\r\n",
      std::string(65'535, 'x') + "\n",
      std::string(65'536, 'x') + "\n",
      std::string(65'537, 'x') + "\n",
  };
}

TEST(RespRequestTest, ACommandIsAnArrayOfBulkStrings) {
  const std::string bytes = Array({"CL.THROTTLE", "user:7", "15", "30", "60"}) + "*1\r\n";
  RespReader reader;
  std::vector<std::string_view> arguments;
  const RespRequest request = reader.Read(bytes, arguments);
  EXPECT_EQ(request.status, RespStatus::kCommand);
  EXPECT_EQ(request.consumed, bytes.size() - 4);
  EXPECT_THAT(arguments, ElementsAre("CL.THROTTLE", "user:7", "15", "30", "60"));
  for (const std::string_view argument : arguments) {
    EXPECT_GE(argument.data(), bytes.data());
    EXPECT_LE(argument.data() + argument.size(), bytes.data() + bytes.size());
  }
}

TEST(RespRequestTest, LengthsOfAnyNumberOfDigitsAreRead) {
  for (const std::size_t size : {0U, 1U, 9U, 10U, 99U, 100U, 101U, 12'345U}) {
    const Words words = {"PING", std::string(size, 'x'), "last"};
    EXPECT_EQ(ReadAll(Array(words)).commands, std::vector<Words>{words}) << size;
    const Words many(std::min<std::size_t>(size, 1000) + 1, "x");
    EXPECT_EQ(ReadAll(Array(many)).commands, std::vector<Words>{many}) << size;
  }
}

TEST(RespRequestTest, ArgumentsHoldAnyBytes) {
  const Words words = {"SET", "", "\r\n$3\r\n\0\xFF"s};
  EXPECT_THAT(ReadAll(Array(words)).commands, ElementsAre(words));
}

TEST(RespRequestTest, ALineOfWordsIsACommand) {
  EXPECT_THAT(ReadAll("PING\r\nGET  a\tb \r\nPING\n").commands,
              ElementsAre(Words{"PING"}, Words{"GET", "a", "b"}, Words{"PING"}));
}

TEST(RespRequestTest, PipelinedCommandsComeOneByOne) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += Array({"GET", std::to_string(i)});
  const Outcome outcome = ReadAll(bytes);
  ASSERT_EQ(outcome.commands.size(), 1000U);
  EXPECT_THAT(outcome.commands[999], ElementsAre("GET", "999"));
  EXPECT_EQ(outcome.unread, 0U);
}

TEST(RespRequestTest, EmptyCommandsAreDroppedAndGetNoAnswer) {
  const std::string empty = "\r\n\n*0\r\n*-1\r\n   \r\n";
  RespReader reader;
  std::vector<std::string_view> arguments;
  const RespRequest nothing = reader.Read(empty, arguments);
  EXPECT_EQ(nothing.status, RespStatus::kNeedMore);
  EXPECT_EQ(nothing.consumed, empty.size());

  const RespRequest request = reader.Read(empty + "PING\r\n", arguments);
  EXPECT_EQ(request.status, RespStatus::kCommand);
  EXPECT_EQ(request.consumed, empty.size() + 6);
}

TEST(RespRequestTest, WhatRedisRefusesIsRefusedInItsWords) {
  const struct {
    std::string bytes;
    std::string_view problem;
  } cases[] = {
      {"*a\r\n", "Protocol error: invalid multibulk length"},
      {"*\r\n", "Protocol error: invalid multibulk length"},
      {"*01\r\n", "Protocol error: invalid multibulk length"},
      {"*-0\r\n", "Protocol error: invalid multibulk length"},
      {"*+1\r\n", "Protocol error: invalid multibulk length"},
      {"* 1\r\n", "Protocol error: invalid multibulk length"},
      {"*1 \r\n", "Protocol error: invalid multibulk length"},
      {"*1\n", "Protocol error: invalid multibulk length"},
      {"*1\r\r", "Protocol error: invalid multibulk length"},
      {"*1025\r\n", "Protocol error: invalid multibulk length"},
      {"*18446744073709551617\r\n", "Protocol error: invalid multibulk length"},
      {"*1\r\n$-1\r\n", "Protocol error: invalid bulk length"},
      {"*1\r\n$x\r\n", "Protocol error: invalid bulk length"},
      {"*1\r\n$65537\r\n", "Protocol error: invalid bulk length"},
      {"*1\r\n$4294967300\r\n", "Protocol error: invalid bulk length"},
      {"*1\r\n$18446744073709551620\r\n", "Protocol error: invalid bulk length"},
      {"*1\r\nPING\r\n", "Protocol error: expected '$', got 'P'"},
      {"*2\r\n$4\r\nPING\r\n*1\r\n", "Protocol error: expected '$', got '*'"},
      {"ECHO \"a\r\n", "Protocol error: unbalanced quotes in request"},
      {std::string(65'537, 'x'), "Protocol error: too big inline request"},
  };
  for (const auto& [bytes, problem] : cases) EXPECT_EQ(ReadAll(bytes).problem, problem) << bytes;
}

TEST(RespRequestTest, ABulkStringEndsWhereItsLengthSays) {
  EXPECT_EQ(ReadAll("*1\r\n$4\r\nPINGS\r\n").problem,
            "Protocol error: bulk string longer than its length");
  EXPECT_EQ(ReadAll("*1\r\n$4\r\nPING\n\n").problem,
            "Protocol error: bulk string longer than its length");
}

TEST(RespRequestTest, WhatCannotBecomeRightIsRefusedBeforeItsLineEnds) {
  for (const std::string_view bytes : {"*x", "*1\r\nx", "*1\r\n$x", "*1\r\n$-"}) {
    EXPECT_EQ(ReadAll(bytes).problem.empty(), bytes.ends_with('-')) << bytes;
  }
}

TEST(RespRequestTest, LimitsAreTheLastThatIsAccepted) {
  const RespLimits limits{.arguments = 3, .bulk = 5, .line = 12, .command = 40};
  const auto ok = [&](const std::string& bytes) {
    const Outcome outcome = ReadAll(bytes, limits);
    return outcome.problem.empty() && outcome.commands.size() == 1;
  };
  EXPECT_TRUE(ok(Array({"a", "b", "c"})));
  EXPECT_FALSE(ok(Array({"a", "b", "c", "d"})));
  EXPECT_TRUE(ok(Array({"12345"})));
  EXPECT_FALSE(ok(Array({"123456"})));
  EXPECT_TRUE(ok(Array({"12345", "12345", "12345"})));  // 4 + 3 * 11 = 37
  EXPECT_TRUE(ok("a b c\r\n"));
  EXPECT_FALSE(ok("a b c d\r\n"));
  EXPECT_TRUE(ok("123456789012\n"));
  EXPECT_FALSE(ok("1234567890123\n"));
  EXPECT_EQ(ReadAll("123456789012", limits).problem, "");  // may still end here
  EXPECT_EQ(ReadAll("1234567890123", limits).problem, "Protocol error: too big inline request");

  const RespLimits small{.arguments = 3, .bulk = 5, .line = 12, .command = 37};
  EXPECT_EQ(ReadAll(Array({"12345", "12345", "12345"}), small).problem, "");
  const RespLimits smaller{.arguments = 3, .bulk = 5, .line = 12, .command = 36};
  EXPECT_EQ(ReadAll(Array({"12345", "12345", "12345"}), smaller).problem,
            "Protocol error: too big request");
}

TEST(RespRequestTest, SplitAnywhereACommandIsTheSame) {
  for (const std::string& bytes : Samples()) {
    const Outcome whole = ReadAll(bytes);
    // Long samples are split near their ends and now and then between.
    const std::size_t step = bytes.size() < 4096 ? 1 : 977;
    for (std::size_t cut = 1; cut < bytes.size(); cut += step) {
      ASSERT_EQ(Feed(bytes, cut, bytes.size()), whole) << bytes.substr(0, 100) << " at " << cut;
    }
  }
}

TEST(RespRequestTest, ByteByByteGivesTheSameAsAllAtOnce) {
  for (const std::string& bytes : Samples()) {
    if (bytes.size() > 4096) continue;  // the harness copies its buffer at every byte
    EXPECT_EQ(Feed(bytes, 1, 1), ReadAll(bytes)) << bytes;
  }
}

// A slow sender costs no more than a fast one. Seen by spoiling what was read before: who looked at
// it again would refuse it.
TEST(RespRequestTest, WhatWasReadIsNotReadAgain) {
  const std::string bytes = Array({"SET", "key", "value"});
  const std::size_t half = bytes.find("$5") + 1;
  RespReader reader;
  std::vector<std::string_view> arguments;
  ASSERT_EQ(reader.Read({bytes.data(), half}, arguments).status, RespStatus::kNeedMore);
  std::string spoilt = bytes;
  spoilt.replace(0, 2, "??");
  spoilt.replace(spoilt.find("$3"), 2, "??");
  spoilt.front() = '*';  // tells an array from a line
  EXPECT_EQ(reader.Read(spoilt, arguments).status, RespStatus::kCommand);
  EXPECT_THAT(arguments, ElementsAre("SET", "key", "value"));
  EXPECT_EQ(ReadAll(spoilt).problem, "Protocol error: invalid multibulk length");

  ASSERT_EQ(reader.Read("PING and", arguments).status, RespStatus::kNeedMore);
  EXPECT_EQ(reader.Read("PING\nand no", arguments).status, RespStatus::kNeedMore);
  EXPECT_EQ(reader.Read("PING and no end\n", arguments).status, RespStatus::kCommand);
  EXPECT_THAT(arguments, ElementsAre("PING", "and", "no", "end"));
}

}  // namespace
}  // namespace weir::wire
