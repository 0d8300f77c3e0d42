#include "wire/http_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::wire {
namespace {

using namespace std::string_literals;
using ::testing::SizeIs;

// A head with "Host: h" and more `fields`, each with its line end.
std::string Head(std::string_view line, std::string_view fields = "") {
  return std::string(line) + "\r\nHost: h\r\n" + std::string(fields) + "\r\n";
}

HttpRead Read(std::string_view bytes, HttpRequest& request, const HttpLimits& limits = {}) {
  return HttpReader(limits).Read(bytes, request);
}

HttpRequest Parsed(std::string_view bytes) {
  HttpRequest request;
  const HttpRead read = Read(bytes, request);
  EXPECT_EQ(read.status, HttpStatus::kHead) << bytes << read.reason;
  return request;
}

// The code it is refused with; 0 if it is not.
int Refused(std::string_view bytes, const HttpLimits& limits = {}) {
  HttpRequest request;
  const HttpRead read = Read(bytes, request, limits);
  EXPECT_NE(read.status, HttpStatus::kNeedMore) << bytes.substr(0, 200);
  EXPECT_EQ(read.status == HttpStatus::kBad, !read.reason.empty());
  return read.code;
}

TEST(HttpReaderTest, AHeadIsALineAndFields) {
  const std::string bytes =
      "POST /v1/check?key=a%20b&x HTTP/1.1\r\nHost: weir:8080\r\nX-Empty:\r\n"
      "Accept:\t */* \t\r\nContent-Length: 12\r\n\r\n{\"key\":\"a\"}\n";
  HttpRequest request;
  const HttpRead read = Read(bytes, request);
  ASSERT_EQ(read.status, HttpStatus::kHead);
  EXPECT_EQ(read.consumed, bytes.find('{'));
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/v1/check?key=a%20b&x");
  EXPECT_EQ(request.path, "/v1/check");
  EXPECT_EQ(request.query, "key=a%20b&x");
  EXPECT_EQ(request.authority, "weir:8080");
  EXPECT_EQ(request.version, HttpVersion::k11);
  EXPECT_EQ(request.body, HttpBody::kLength);
  EXPECT_EQ(request.content_length, 12U);
  EXPECT_TRUE(request.keep_alive);
  EXPECT_FALSE(request.expect_continue);
  ASSERT_THAT(request.fields, SizeIs(4));
  EXPECT_EQ(request.Field("ACCEPT"), "*/*");
  EXPECT_EQ(request.Field("x-empty"), "");
  EXPECT_EQ(request.Field("x-absent"), std::nullopt);
}

TEST(HttpReaderTest, ARequestUsedAgainForgetsTheLast) {
  HttpRequest request;
  Read(Head("POST http://a/?q HTTP/1.1", "Content-Length: 5\r\nExpect: 100-continue\r\n"), request);
  EXPECT_TRUE(request.expect_continue);
  const std::string bytes = Head("GET / HTTP/1.1");
  ASSERT_EQ(Read(bytes, request).status, HttpStatus::kHead);
  EXPECT_EQ(request.query, "");
  EXPECT_EQ(request.authority, "h");
  EXPECT_EQ(request.body, HttpBody::kNone);
  EXPECT_EQ(request.content_length, 0U);
  EXPECT_FALSE(request.expect_continue);
  EXPECT_THAT(request.fields, SizeIs(1));
}

TEST(HttpReaderTest, TargetsHaveThreeForms) {
  const struct {
    std::string line;
    std::string_view path;
    std::string_view query;
    std::string_view authority;
  } cases[] = {
      {"GET / HTTP/1.1", "/", "", "h"},
      {"GET /a?b?c HTTP/1.1", "/a", "b?c", "h"},
      {"GET /? HTTP/1.1", "/", "", "h"},
      {"GET //a HTTP/1.1", "//a", "", "h"},
      {"GET /http://x/ HTTP/1.1", "/http://x/", "", "h"},
      {"GET http://other:80/a?b HTTP/1.1", "/a", "b", "other:80"},
      {"GET HTTPS://[::1]:80?b HTTP/1.1", "/", "b", "[::1]:80"},
      {"GET http://other HTTP/1.1", "/", "", "other"},
      {"OPTIONS * HTTP/1.1", "*", "", "h"},
      {"OPTIONS /a HTTP/1.1", "/a", "", "h"},
      {"X-y_z! /a HTTP/1.1", "/a", "", "h"},
  };
  for (const auto& [line, path, query, authority] : cases) {
    const std::string bytes = Head(line);
    const HttpRequest request = Parsed(bytes);
    EXPECT_EQ(request.path, path) << line;
    EXPECT_EQ(request.query, query) << line;
    EXPECT_EQ(request.authority, authority) << line;
  }
}

TEST(HttpReaderTest, RequestLinesAreReadStrictly) {
  for (const std::string& line : {"GET"s,
                                  "GET /"s,
                                  "GET / "s,
                                  "GET  / HTTP/1.1"s,
                                  "GET /  HTTP/1.1"s,
                                  " GET / HTTP/1.1"s,
                                  "GET / HTTP/1.1 "s,
                                  "GET\t/ HTTP/1.1"s,
                                  "GET /\tHTTP/1.1"s,
                                  "G(T / HTTP/1.1"s,
                                  "GET /a b HTTP/1.1"s,
                                  "GET /\0 HTTP/1.1"s,
                                  "GET /\r HTTP/1.1"s,
                                  "GET /\x7F HTTP/1.1"s,
                                  "GET /\xC3\xA4 HTTP/1.1"s,
                                  "GET /#f HTTP/1.1"s,
                                  "GET / http/1.1"s,
                                  "GET / HTTP/1.1x"s,
                                  "GET / HTTP/11"s,
                                  "GET / HTTP/1,1"s,
                                  "GET / HTTP/a.b"s,
                                  "GET / HTTP/1.10"s,
                                  "GET * HTTP/1.1"s,
                                  "GET a HTTP/1.1"s,
                                  "GET ? HTTP/1.1"s,
                                  "GET ftp://a/ HTTP/1.1"s,
                                  "GET http:// HTTP/1.1"s,
                                  "GET http:///a HTTP/1.1"s,
                                  "GET http://u@a/ HTTP/1.1"s,
                                  "GET http:/a HTTP/1.1"s,
                                  "GET http://a<b/ HTTP/1.1"s,
                                  "GET h:80 HTTP/1.1"s}) {
    EXPECT_EQ(Refused(Head(line)), 400) << line;
  }
  EXPECT_EQ(Refused(Head("CONNECT h:80 HTTP/1.1")), 501);
}

TEST(HttpReaderTest, OtherVersionsAreRefused) {
  for (const std::string_view version : {"HTTP/0.9", "HTTP/1.2", "HTTP/2.0", "HTTP/3.0"}) {
    EXPECT_EQ(Refused(Head("GET / " + std::string(version))), 505) << version;
  }
  EXPECT_EQ(Refused("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505);
  EXPECT_EQ(Parsed(Head("GET / HTTP/1.0")).version, HttpVersion::k10);
}

TEST(HttpReaderTest, WhetherTheConnectionStaysDependsOnTheVersion) {
  const struct {
    std::string_view version;
    std::string_view fields;
    bool keep_alive;
  } cases[] = {
      {"1.1", "", true},
      {"1.1", "Connection: close\r\n", false},
      {"1.1", "CONNECTION: Upgrade ,\tCLOSE\r\n", false},
      {"1.1", "Connection: closed\r\n", true},
      {"1.1", "Connection: keep-alive\r\nConnection: close\r\n", false},
      {"1.0", "", false},
      {"1.0", "Connection: Keep-Alive\r\n", true},
      {"1.0", "Connection: keep-alive, close\r\n", false},
      {"1.0", "Keep-Alive: timeout=5\r\n", false},
  };
  for (const auto& [version, fields, keep_alive] : cases) {
    const std::string bytes = Head("GET / HTTP/" + std::string(version), fields);
    EXPECT_EQ(Parsed(bytes).keep_alive, keep_alive) << bytes;
  }
}

TEST(HttpReaderTest, ExpectIsNotedOfVersionElevenAlone) {
  EXPECT_TRUE(Parsed(Head("PUT / HTTP/1.1", "Expect: 100-Continue\r\n")).expect_continue);
  EXPECT_FALSE(Parsed(Head("PUT / HTTP/1.0", "Expect: 100-continue\r\n")).expect_continue);
  EXPECT_FALSE(Parsed(Head("PUT / HTTP/1.1", "Expect: 200-ok\r\n")).expect_continue);
}

TEST(HttpReaderTest, TheBodyIsALengthOrChunks) {
  EXPECT_EQ(Parsed(Head("POST / HTTP/1.1")).body, HttpBody::kNone);
  EXPECT_EQ(Parsed(Head("POST / HTTP/1.1", "Content-Length: 0\r\n")).body, HttpBody::kNone);
  EXPECT_EQ(Parsed(Head("GET / HTTP/1.1", "content-length: 007\r\n")).content_length, 7U);
  EXPECT_EQ(Parsed(Head("POST / HTTP/1.1", "Transfer-Encoding: Chunked\r\n")).body,
            HttpBody::kChunked);
}

TEST(HttpReaderTest, SmugglingIsRefused) {
  const struct {
    std::string fields;
    int code;
  } cases[] = {
      {"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", 400},
      {"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n", 400},
      {"Transfer-Encoding: gzip\r\nContent-Length: 5\r\n", 400},
      {"Content-Length: 5\r\nContent-Length: 6\r\n", 400},
      {"Content-Length: 5\r\nContent-Length: 5\r\n", 400},
      {"Content-Length: 5, 5\r\n", 400},
      {"Content-Length: 5,6\r\n", 400},
      {"Content-Length: +5\r\n", 400},
      {"Content-Length: -5\r\n", 400},
      {"Content-Length: -0\r\n", 400},
      {"Content-Length: 0x5\r\n", 400},
      {"Content-Length: 5 5\r\n", 400},
      {"Content-Length: 5;\r\n", 400},
      {"Content-Length: 5.0\r\n", 400},
      {"Content-Length:\r\n", 400},
      {"Content-Length: \xB2\r\n", 400},
      {"Content-Length: 18446744073709551616\r\n", 400},
      {"Content-Length: 99999999999999999999999999\r\n", 400},
      {"Content-Length: 18446744073709551615\r\n", 413},
      {"Content-Length : 5\r\n", 400},
      {"Content-Length\t: 5\r\n", 400},
      {" Content-Length: 5\r\n", 400},
      {"X: a\r\n Content-Length: 5\r\n", 400},
      {"X: a\r\n\tb\r\n", 400},
      {"X: a\r\n \r\n", 400},
      {"Transfer-Encoding : chunked\r\n", 400},
      {"Transfer-Encoding: xchunked\r\n", 501},
      {"Transfer-Encoding: chunked, identity\r\n", 501},
      {"Transfer-Encoding: gzip, chunked\r\n", 501},
      {"Transfer-Encoding: chunked, chunked\r\n", 501},
      {"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", 501},
      {"Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n", 501},
      {"Transfer-Encoding: x\r\nTransfer-Encoding: chunked\r\n", 501},
      {"Transfer-Encoding: identity\r\n", 501},
      {"Transfer-Encoding:\r\n", 501},
      {"Transfer-Encoding: \"chunked\"\r\n", 501},
      {"Transfer-Encoding: chunked;q=1\r\n", 501},
      {"Transfer-Encoding: \vchunked\r\n", 400},
      {"Transfer-Encoding:\x00 chunked\r\n"s, 400},
      {"Transfer-Encoding\r\n: chunked\r\n", 400},
      {"X: a\nTransfer-Encoding: chunked\r\n", 400},
      {"X: a\rTransfer-Encoding: chunked\r\n", 400},
      {"X: a\r\r\n", 400},
      {"\rTransfer-Encoding: chunked\r\n", 400},
      {"X: a\r\n\r\r\nY: b\r\n", 400},
      {"X: a\n\r\n", 400},
      {"X: a\r\n\n", 400},
      {"X: \x01\r\n", 400},
      {"X: \x7F\r\n", 400},
      {"X: a\0b\r\n"s, 400},
      {"X\0: a\r\n"s, 400},
      {"\xC3\xA4: a\r\n", 400},
      {"X(: a\r\n", 400},
      {": a\r\n", 400},
      {"X\r\n", 400},
      {"Host: h\r\n", 400},
      {"hOST: other\r\n", 400},
  };
  for (const auto& [fields, code] : cases) {
    EXPECT_EQ(Refused(Head("POST / HTTP/1.1", fields)), code) << fields;
  }
  EXPECT_EQ(Refused(Head("POST / HTTP/1.0", "Transfer-Encoding: chunked\r\n")), 400);
}

TEST(HttpReaderTest, HostIsGivenOnceAndIsOne) {
  EXPECT_EQ(Refused("GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(Refused("GET http://a/ HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(Refused("GET / HTTP/1.0\r\n\r\n"), 0);
  EXPECT_EQ(Refused("GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n"), 400);
  EXPECT_EQ(Refused("GET / HTTP/1.1\r\nHost:\r\n\r\n"), 0);
  for (const std::string_view host : {"a b", "a/b", "u@a", "a\"", "\xC3\xA4", "a?b", "a\\b"}) {
    EXPECT_EQ(Refused("GET / HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n"), 400) << host;
  }
}

TEST(HttpReaderTest, OneEmptyLineBeforeARequestIsSkipped) {
  const std::string head = Head("GET /a HTTP/1.1");
  HttpRequest request;
  EXPECT_EQ(Read("\r\n" + head, request).consumed, head.size() + 2);
  EXPECT_EQ(Refused("\r\n\r\n" + head), 400);
  EXPECT_EQ(Refused("\n" + head), 400);
  EXPECT_EQ(Refused("\rX"), 400);
}

TEST(HttpReaderTest, WhoSpeaksSomethingElseIsToldAtOnce) {
  EXPECT_EQ(Refused("\x16\x03\x01\x02"), 400);       // TLS
  EXPECT_EQ(Refused("GET / HTTP/1.1\n"), 400);       // waits for an answer now
  EXPECT_EQ(Refused("\r\n\r\n\0\r\nQUIT\n"s), 400);  // PROXY protocol
}

TEST(HttpReaderTest, LimitsAreTheLastThatIsAccepted) {
  const std::string line = "GET /" + std::string(100, 'a') + " HTTP/1.1";
  const std::string head = Head(line, "A: 1\r\nB: 2\r\n");
  HttpLimits limits{.request_line = line.size() + 1, .head = head.size(), .fields = 3, .body = 7};
  EXPECT_EQ(Refused(head, limits), 0);
  limits.request_line -= 1;
  EXPECT_EQ(Refused(head, limits), 414);
  EXPECT_EQ(Refused(head.substr(0, line.size() + 1), limits), 414);  // before it ends
  limits.request_line += 1;
  limits.head -= 1;
  EXPECT_EQ(Refused(head, limits), 431);
  EXPECT_EQ(Refused(head.substr(0, limits.head), limits), 431);
  limits.head += 1;
  limits.fields -= 1;
  EXPECT_EQ(Refused(head, limits), 431);

  limits.head = 1000;
  EXPECT_EQ(Refused(Head("PUT / HTTP/1.1", "Content-Length: 7\r\n"), limits), 0);
  EXPECT_EQ(Refused(Head("PUT / HTTP/1.1", "Content-Length: 8\r\n"), limits), 413);
}

TEST(HttpReaderTest, PipelinedRequestsComeOneByOne) {
  std::string bytes;
  for (int i = 0; i < 100; ++i) bytes += Head("GET /" + std::to_string(i) + " HTTP/1.1");
  HttpReader reader;
  HttpRequest request;
  std::string_view rest = bytes;
  for (int i = 0; i < 100; ++i) {
    const HttpRead read = reader.Read(rest, request);
    ASSERT_EQ(read.status, HttpStatus::kHead);
    EXPECT_EQ(request.path, "/" + std::to_string(i));
    rest.remove_prefix(read.consumed);
  }
  EXPECT_TRUE(rest.empty());
}

// Good and bad ones.
std::vector<std::string> Samples() {
  return {
      Head("GET / HTTP/1.1"),
      Head("GET / HTTP/1.1") + Head("GET /b HTTP/1.1"),
      "\r\n" + Head("POST /a?b HTTP/1.1", "Content-Length: 3\r\nX: y\r\n") + "abc",
      Head("GET http://a/ HTTP/1.0", "Connection: close\r\n"),
      Head("POST / HTTP/1.1", "Transfer-Encoding: chunked\r\n") + "0\r\n\r\n",
      Head("POST / HTTP/1.1", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
      Head("POST / HTTP/1.1", "Content-Length: 1048577\r\n"),
      Head("POST / HTTP/1.1", "A : 1\r\n"),
      Head("POST / HTTP/1.1", "A : 1\r\nB: 2\n"),
      Head("POST / HTTP/1.1", "A: 1\r\n B\r\n"),
      Head("GET / HTTP/2.0"),
      "GET /" + std::string(9000, 'a') + "\n" + Head("", "A: 1\n"),
      Head("GET / HTTP/1.1", "A: " + std::string(17'000, 'a') + "\r\n"),
      Head("GET / HTTP/1.1", "A: " + std::string(15'000, 'a') + "\n"),
      "GET / HTTP/1.1\n\n",
      "\r\n\r\n",
      "\rGET",
      "\x16\x03\x01",
  };
}

TEST(HttpReaderTest, SplitAnywhereAHeadIsTheSame) {
  for (const std::string& bytes : Samples()) {
    HttpRequest request;
    const HttpRead whole = Read(bytes, request);
    ASSERT_NE(whole.status, HttpStatus::kNeedMore);
    const std::string path(request.path);
    const std::size_t fields = request.fields.size();
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
      HttpReader reader;
      HttpRead read = reader.Read(std::string(bytes.substr(0, cut)), request);
      if (read.status == HttpStatus::kNeedMore) read = reader.Read(bytes, request);
      ASSERT_EQ(read, whole) << bytes.substr(0, 200) << " at " << cut;
      if (whole.status != HttpStatus::kHead || cut >= whole.consumed) continue;
      ASSERT_EQ(request.path, path);
      ASSERT_EQ(request.fields.size(), fields);
    }
  }
}

TEST(HttpReaderTest, ByteByByteGivesTheSameAsAllAtOnce) {
  for (const std::string& bytes : Samples()) {
    HttpRequest request;
    const HttpRead whole = Read(bytes, request);
    HttpReader reader;
    HttpRead fed;
    std::size_t size = 0;
    while (fed.status == HttpStatus::kNeedMore && size <= bytes.size()) {
      fed = reader.Read(std::string(bytes.substr(0, size++)), request);
    }
    EXPECT_EQ(fed, whole) << bytes.substr(0, 200);
    // Not one byte early: a head is known when its last byte has come.
    if (whole.status == HttpStatus::kHead) {
      EXPECT_EQ(size - 1, whole.consumed);
    }
  }
}

// A slow sender costs no more than a fast one. Seen by spoiling what was searched before: who
// looked at it again would refuse the LF, or take the head for ended.
TEST(HttpReaderTest, WhatWasSearchedIsNotSearchedAgain) {
  const std::string bytes = Head("GET / HTTP/1.1", "A: 1\r\nB: 2\r\n");
  HttpRequest request;
  for (const std::string_view spoil : {"1\n\n\n", "\r\n\r\n"}) {
    std::string spoilt = bytes;
    spoilt.replace(spoilt.find("1\r\nB"), 4, spoil);
    HttpReader reader;
    ASSERT_EQ(reader.Read({bytes.data(), bytes.find("2")}, request).status, HttpStatus::kNeedMore);
    EXPECT_EQ(reader.Read({spoilt.data(), spoilt.size() - 1}, request).status,
              HttpStatus::kNeedMore);
    const HttpRead read = reader.Read(bytes, request);
    EXPECT_EQ(read.status, HttpStatus::kHead);
    EXPECT_EQ(read.consumed, bytes.size());
    EXPECT_NE(HttpReader().Read({spoilt.data(), spoilt.size() - 1}, request).status,
              HttpStatus::kNeedMore);
  }
}

}  // namespace
}  // namespace weir::wire
