#include "wire/resp_value.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "wire/resp_reply.h"

namespace weir::wire {
namespace {

// A tree as one line: [1 "hi" {"k" null}]
std::string Show(RespValue value) {
  switch (value.kind()) {
    case RespKind::kNull:
      return "null";
    case RespKind::kSimple:
      return "+" + std::string(value.text());
    case RespKind::kError:
      return "-" + std::string(value.text());
    case RespKind::kInteger:
      return std::to_string(value.integer());
    case RespKind::kBulk:
      return '"' + std::string(value.text()) + '"';
    case RespKind::kBool:
      return value.integer() != 0 ? "true" : "false";
    case RespKind::kArray:
    case RespKind::kMap:
    case RespKind::kPush:
      break;
  }
  std::string parts;
  for (const RespValue part : value) parts += (parts.empty() ? "" : " ") + Show(part);
  if (value.is(RespKind::kMap)) return "{" + parts + "}";
  return (value.is(RespKind::kPush) ? ">[" : "[") + parts + "]";
}

// All answers in `bytes`, one after the other, which come in pieces of `piece` bytes; then what is
// wrong, if anything is.
std::vector<std::string> Answers(std::string_view bytes, std::size_t piece,
                                 const RespValueLimits& limits = {}) {
  std::vector<std::string> answers;
  RespValueReader reader(limits);
  std::string buffer;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    buffer += bytes.substr(at, piece);
    for (;;) {
      const std::vector<char> moved(buffer.begin(), buffer.end());  // elsewhere at each call
      const RespAnswer answer = reader.Read({moved.data(), moved.size()});
      if (answer.status == RespValueStatus::kBad) {
        answers.push_back("bad: " + std::string(answer.problem));
        return answers;
      }
      if (answer.status == RespValueStatus::kNeedMore) break;
      answers.push_back(Show(answer.value));
      buffer.erase(0, answer.consumed);
    }
  }
  if (!buffer.empty()) answers.emplace_back("unfinished");
  return answers;
}

using Lines = std::vector<std::string>;

TEST(RespValueTest, ReadsEveryTypeInOnePieceAndByteByByte) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"+OK\r\n", "+OK"},
      {"+\r\n", "+"},
      {"-ERR no\r\n", "-ERR no"},
      {":-9223372036854775808\r\n", "-9223372036854775808"},
      {":0\r\n", "0"},
      {"$2\r\nhi\r\n", "\"hi\""},
      {"$4\r\n\r\n\r\n\r\n", "\"\r\n\r\n\""},
      {"$0\r\n\r\n", "\"\""},
      {"$-1\r\n", "null"},
      {"*-1\r\n", "null"},
      {"_\r\n", "null"},
      {"#t\r\n", "true"},
      {"#f\r\n", "false"},
      {",1.5\r\n", "\"1.5\""},
      {"(12345678901234567890\r\n", "\"12345678901234567890\""},
      {"!6\r\nERR no\r\n", "-ERR no"},
      {"=6\r\ntxt:hi\r\n", "\"hi\""},
      {"*0\r\n", "[]"},
      {"*2\r\n:1\r\n*2\r\n:2\r\n*0\r\n", "[1 [2 []]]"},
      {"~1\r\n:1\r\n", "[1]"},
      {"%2\r\n+a\r\n:1\r\n+b\r\n*1\r\n_\r\n", "{+a 1 +b [null]}"},
      {">2\r\n+message\r\n:1\r\n", ">[+message 1]"},
  };
  std::string all;
  Lines shown;
  for (const auto& [bytes, expected] : cases) {
    EXPECT_EQ(Answers(bytes, bytes.size()), Lines{expected});
    all += bytes;
    shown.push_back(expected);
  }
  for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, all.size()}) {
    EXPECT_EQ(Answers(all, piece), shown) << piece;
  }
}

TEST(RespValueTest, AnAttributeIsDropped) {
  EXPECT_EQ(Answers("|1\r\n+ttl\r\n:9\r\n:1\r\n", 1), Lines{"1"});
  EXPECT_EQ(Answers("*2\r\n:1\r\n|1\r\n+ttl\r\n*1\r\n:9\r\n:2\r\n", 1), Lines{"[1 2]"});
}

TEST(RespValueTest, WhatIsUnfinishedIsNoAnswerYet) {
  for (const std::string_view bytes : {"+OK\r", "*2\r\n:1\r\n", "$2\r\nhi", "$2\r\nhi\r",
                                       "%1\r\n+a\r\n", "|1\r\n+ttl\r\n:9\r\n", "-"}) {
    EXPECT_EQ(Answers(bytes, bytes.size()), Lines{"unfinished"}) << bytes;
    EXPECT_EQ(Answers(bytes, 1), Lines{"unfinished"}) << bytes;
  }
}

TEST(RespValueTest, WhatRedisNeverSendsIsRefused) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"+OK\n", "bad: a line does not end with CR LF"},
      {"\r\n", "bad: a line does not end with CR LF"},
      {"HTTP/1.1 400\r\n", "bad: it begins with a type that does not exist"},
      {":01\r\n", "bad: an integer is none"},
      {":\r\n", "bad: an integer is none"},
      {":9223372036854775808\r\n", "bad: an integer is none"},
      {"#yes\r\n", "bad: a truth is neither t nor f"},
      {"_0\r\n", "bad: a null has a value"},
      {"$-2\r\n", "bad: a length is none"},
      {"=-1\r\n", "bad: a length is none"},
      {"%-1\r\n", "bad: a length is none"},
      {"$?\r\n", "bad: a length is none"},
      {"=3\r\ntxt\r\n", "bad: a verbatim text has no format"},
      {"$1\r\nhi\r\n", "bad: a bulk string is longer than its length"},
      {"*1\r\n>0\r\n", "bad: a push is in an answer"},
  };
  for (const auto& [bytes, expected] : cases) {
    EXPECT_EQ(Answers(bytes, bytes.size()), Lines{expected}) << bytes;
    EXPECT_EQ(Answers(bytes, 1), Lines{expected}) << bytes;
  }
}

TEST(RespValueTest, AnAnswerIsBoundedInBytesPartsAndDepth) {
  const RespValueLimits limits{.bytes = 32, .parts = 8, .depth = 2};
  EXPECT_EQ(Answers("$25\r\n" + std::string(25, 'x') + "\r\n", 7, limits).front().size(), 27U);
  EXPECT_EQ(Answers("$26\r\n", 5, limits), Lines{"bad: the answer is too long"});
  EXPECT_EQ(Answers("+" + std::string(29, 'x') + "\r\n", 7, limits).front().size(), 30U);
  EXPECT_EQ(Answers("+" + std::string(31, 'x'), 7, limits), Lines{"bad: the answer is too long"});
  EXPECT_EQ(Answers("*4\r\n_\r\n_\r\n_\r\n_\r\n", 1, limits), Lines{"[null null null null]"});
  EXPECT_EQ(Answers("*5\r\n", 1, limits), Lines{"bad: the answer has too many parts"});
  EXPECT_EQ(Answers("*1\r\n*1\r\n_\r\n", 1, limits), Lines{"[[null]]"});
  EXPECT_EQ(Answers("*1\r\n*1\r\n*1\r\n", 1, limits),
            Lines{"bad: the answer is nested too deeply"});
}

TEST(RespValueTest, PartsAreFoundByTheirPlace) {
  RespValueReader reader;
  const RespAnswer answer = reader.Read("*3\r\n*2\r\n:1\r\n:2\r\n+x\r\n-NOSCRIPT none\r\n");
  ASSERT_EQ(answer.status, RespValueStatus::kValue);
  ASSERT_EQ(answer.value.size(), 3U);
  EXPECT_EQ(answer.value[0][1].integer(), 2);
  EXPECT_EQ(answer.value[1].text(), "x");
  EXPECT_TRUE(answer.value[2].IsError("NOSCRIPT"));
  EXPECT_FALSE(answer.value[2].IsError("NOSC"));
  EXPECT_FALSE(answer.value[1].IsError("x"));
  EXPECT_EQ(answer.value[1].size(), 0U);
}

TEST(RespValueTest, ReadsWhatTheServerSideWrites) {
  for (const RespVersion version : {RespVersion::k2, RespVersion::k3}) {
    std::string bytes;
    {
      RespWriter writer(bytes, version);
      writer.Array(3);
      writer.Integer(42);
      writer.Bulk("hi");
      writer.Null();
    }
    EXPECT_EQ(Answers(bytes, 1), Lines{"[42 \"hi\" null]"});
  }
}

TEST(RespValueTest, AReaderThatWasResetKnowsNothingOfTheAnswerBefore) {
  RespValueReader reader;
  EXPECT_EQ(reader.Read("*3\r\n:1\r\n").status, RespValueStatus::kNeedMore);
  reader.Reset();
  EXPECT_EQ(Show(reader.Read("+OK\r\n").value), "+OK");
}

}  // namespace
}  // namespace weir::wire
