#include "wire/http_reply.h"

#include <gtest/gtest.h>

#include "wire/http_reader.h"

namespace weir::wire {
namespace {

using namespace std::string_literals;

TEST(HttpReplyTest, AnAnswerIsAppended) {
  std::string out = "before";
  HttpReply reply(out, 429, {});
  reply.Field("Retry-After", 3).Field("RateLimit", "\"default\";r=0");
  reply.Finish("application/json", "{}");
  EXPECT_EQ(out,
            "beforeHTTP/1.1 429 Too Many Requests\r\nRetry-After: 3\r\n"
            "RateLimit: \"default\";r=0\r\nContent-Type: application/json\r\n"
            "Content-Length: 2\r\n\r\n{}");
}

TEST(HttpReplyTest, ABodyMayComeInPieces) {
  std::string out;
  HttpReply(out, 200, {}).FinishChunked("text/plain");
  AppendHttpChunk("seventeen letters", out);
  AppendHttpChunk("", out);
  EXPECT_EQ(out,
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
            "11\r\nseventeen letters\r\n0\r\n\r\n");
}

TEST(HttpReplyTest, HeadGetsTheLengthButNotTheBody) {
  std::string out;
  HttpReply(out, 200, {.head_only = true}).Finish("text/plain", "hello");
  EXPECT_EQ(out, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\n");
}

TEST(HttpReplyTest, AnEmptyAnswerHasALengthUnlessItCannotHaveABody) {
  std::string out;
  HttpReply(out, 200, {}).Finish();
  EXPECT_EQ(out, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  out.clear();
  HttpReply(out, 204, {}).Finish("text/plain", "hello");
  EXPECT_EQ(out, "HTTP/1.1 204 No Content\r\n\r\n");
  out.clear();
  HttpReply(out, 304, {}).Finish();
  EXPECT_EQ(out, "HTTP/1.1 304 Not Modified\r\n\r\n");
}

TEST(HttpReplyTest, TheDateFollowsTheStatus) {
  std::string out;
  HttpReply(out, 503, {.date = "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"}).Finish();
  EXPECT_EQ(out,
            "HTTP/1.1 503 Service Unavailable\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
            "Content-Length: 0\r\n\r\n");
}

TEST(HttpReplyTest, TheConnectionIsNamedWhereItIsNotObvious) {
  const auto connection = [](HttpVersion version, bool keep_alive) {
    std::string out;
    HttpReply(out, 200, {.version = version, .keep_alive = keep_alive}).Finish();
    return out.substr(17, out.find("Content-Length") - 17);
  };
  EXPECT_EQ(connection(HttpVersion::k11, true), "");
  EXPECT_EQ(connection(HttpVersion::k11, false), "Connection: close\r\n");
  EXPECT_EQ(connection(HttpVersion::k10, true), "Connection: keep-alive\r\n");
  EXPECT_EQ(connection(HttpVersion::k10, false), "Connection: close\r\n");
}

TEST(HttpReplyTest, TheRequestSaysHowItIsAnswered) {
  HttpRequest request;
  HttpReader().Read("HEAD / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", request);
  const HttpReplyTo to = HttpReplyTo::Of(request);
  EXPECT_EQ(to.version, HttpVersion::k10);
  EXPECT_TRUE(to.keep_alive);
  EXPECT_TRUE(to.head_only);
}

TEST(HttpReplyTest, WhatAClientSentCannotBeginAFieldOfItsOwn) {
  std::string out;
  HttpReply reply(out, 200, {});
  reply.Field("X-Key", "a\r\nSet-Cookie: b\n\rc\0d\x7F\te\xC3\xA4"s);
  reply.Finish("text/plain\r\nX: y", "");
  EXPECT_EQ(out,
            "HTTP/1.1 200 OK\r\nX-Key: a  Set-Cookie: b  c d \te\xC3\xA4\r\n"
            "Content-Type: text/plain  X: y\r\nContent-Length: 0\r\n\r\n");
}

TEST(HttpReplyDeathTest, ANameThatIsNoneIsABug) {
  std::string out;
  HttpReply reply(out, 200, {});
  EXPECT_DEATH(reply.Field("X: y\r\n", "z"), "IsToken");
  EXPECT_DEATH(HttpReply(out, 100, {}), "status");
}

TEST(HttpReplyTest, ContinueIsNoAnswerOfItsOwn) {
  std::string out;
  AppendHttpContinue(out);
  EXPECT_EQ(out, "HTTP/1.1 100 Continue\r\n\r\n");
}

}  // namespace
}  // namespace weir::wire
