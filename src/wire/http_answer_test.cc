#include "wire/http_answer.h"

#include <gtest/gtest.h>

namespace weir::wire {
namespace {

// Read in pieces of every size, which must make no difference.
HttpAnswer Answer(const std::string& bytes, bool ends = false) {
  HttpAnswer last;
  for (const std::size_t size : {bytes.size(), std::size_t{1}, std::size_t{7}}) {
    HttpAnswerReader reader;
    bool done = false;
    for (std::size_t at = 0; at < bytes.size() && !done; at += size) {
      const Result<bool> read = reader.Read(std::string_view(bytes).substr(at, size));
      EXPECT_TRUE(read) << read.error().message;
      done = read && *read;
    }
    EXPECT_EQ(done, !ends);
    EXPECT_EQ(reader.End(), ends);
    last = reader.Take();
  }
  return last;
}

TEST(HttpAnswerTest, EndsWhereItsLengthSays) {
  const HttpAnswer answer =
      Answer("HTTP/1.1 404 Not Found\r\nETag:  \"7\" \r\nContent-Length: 5\r\n\r\nhello");
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.Field("etag"), "\"7\"");
  EXPECT_EQ(answer.Field("other"), "");
  EXPECT_EQ(answer.body, "hello");
}

TEST(HttpAnswerTest, MayComeInChunks) {
  EXPECT_EQ(Answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                   "3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n")
                .body,
            "hello");
}

TEST(HttpAnswerTest, MayEndWithTheConnection) {
  EXPECT_EQ(Answer("HTTP/1.0 200 OK\r\n\r\nhello", true).body, "hello");
}

TEST(HttpAnswerTest, MayHaveNoBody) {
  EXPECT_EQ(Answer("HTTP/1.1 204 No Content\r\n\r\n").body, "");
}

TEST(HttpAnswerTest, WordsInBetweenArePassedOver) {
  const HttpAnswer answer =
      Answer("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "ok");
}

TEST(HttpAnswerTest, WhatIsNoAnswerIsAnError) {
  for (const std::string& bytes :
       {std::string("-ERR unknown command 'GET'\r\n\r\n"), std::string("HTTP/2 200\r\n\r\n"),
        std::string("HTTP/1.1 999 x\r\n\r\n"), std::string(100'000, 'x'),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"),
        std::string("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"),
        std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")}) {
    HttpAnswerReader reader;
    EXPECT_FALSE(reader.Read(bytes)) << bytes.substr(0, 40);
  }
}

}  // namespace
}  // namespace weir::wire
