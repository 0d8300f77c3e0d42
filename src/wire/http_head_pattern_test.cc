#include "wire/http_head_pattern.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "wire/http_reader.h"

namespace weir::wire {
namespace {

std::string Text(const HttpRequest& request) {
  std::string text;
  for (const std::string_view part :
       {request.method, request.target, request.path, request.query, request.authority}) {
    text.append(part).append("|");
  }
  text += std::to_string(static_cast<int>(request.version)) + '|' +
          std::to_string(static_cast<int>(request.body)) + '|' +
          std::to_string(request.content_length) + '|' + (request.keep_alive ? 'k' : 'c') +
          (request.expect_continue ? 'e' : '-') + '|' + std::to_string(request.name_lengths);
  for (const rule::HeaderField& field : request.fields) {
    text.append("\n").append(field.name).append("=").append(field.value);
  }
  return text;
}

std::string Names(const HttpRequest& request) {
  std::string names;
  for (const rule::HeaderField& field : request.fields) names.append(field.name).append("\n");
  return names;
}

// What `reader` says of `bytes`, which lie where nothing may be read behind them.
std::string ReadBy(HttpReader& reader, std::string_view bytes, HttpRequest& request) {
  const HttpRead read = reader.Read(bytes, request);
  if (read.status == HttpStatus::kNeedMore) return "more";
  if (read.status == HttpStatus::kBad) {
    return std::to_string(read.code) + std::string(read.reason);
  }
  return std::to_string(read.consumed) + '|' + Text(request);
}

constexpr std::string_view kUsual =
    "GET /check HTTP/1.1\r\nHost: weir.local\r\nX-Forwarded-Uri: /a\r\nX-Plan: free\r\n\r\n";

class HttpHeadPatternTest : public testing::Test {
 protected:
  // So that there is a pattern: of the first head alone nothing is learned.
  void LearnUsual() {
    for (int i = 0; i < 3; ++i) Same(kUsual);
    ASSERT_NE(request_.names, 0U);
  }
  // Read after what was read before, or by itself: the same.
  void Same(std::string_view bytes) {
    const std::vector<char> exact(bytes.begin(), bytes.end());
    HttpReader alone;
    HttpRequest request;
    EXPECT_EQ(ReadBy(reader_, {exact.data(), exact.size()}, request_),
              ReadBy(alone, {exact.data(), exact.size()}, request))
        << bytes;
  }

  HttpReader reader_;
  HttpRequest request_;
};

TEST_F(HttpHeadPatternTest, TheSameNamesHaveTheSameNumber) {
  LearnUsual();
  const std::uint64_t number = request_.names;
  Same(
      "GET /check HTTP/1.1\r\nHost: weir.local\r\nX-Forwarded-Uri: /quite/another/path/than/that"
      "/before/it\r\nX-Plan:  pro \t\r\n\r\n");
  EXPECT_EQ(request_.names, number);
  Same(
      "POST /check/b?c=d HTTP/1.1\r\nHost: weir.local\r\nX-Forwarded-Uri: \r\nX-Plan: "
      "f\tr\r\n\r\n");
  EXPECT_EQ(request_.names, number);
}

TEST_F(HttpHeadPatternTest, NamesInAnotherCaseOrderOrNumberAreOthers) {
  for (const std::string_view other :
       {"GET /check HTTP/1.1\r\nHost: weir.local\r\nX-forwarded-Uri: /a\r\nX-Plan: free\r\n\r\n",
        "GET /check HTTP/1.1\r\nHost: weir.local\r\nX-Plan: free\r\nX-Forwarded-Uri: /a\r\n\r\n",
        "GET /check HTTP/1.1\r\nHost: weir.local\r\nX-Forwarded-Uri: /a\r\nX-Plan: f\r\n"
        "X-Plan: g\r\n\r\n",
        "GET /check HTTP/1.1\r\nHost: weir.local\r\nX-Forwarded-Uri: /a\r\n\r\n"}) {
    reader_ = HttpReader();
    LearnUsual();
    const std::uint64_t number = request_.names;
    Same(other);
    EXPECT_NE(request_.names, number);
  }
}

TEST_F(HttpHeadPatternTest, WhatIsSaidOfTheBodyIsReadEachTime) {
  LearnUsual();
  for (const std::string_view said :
       {"Content-Length: 5\r\n", "Content-Length: 6\r\n", "Content-Length: 6\r\n",
        "Content-Length: 6\r\n", "Content-Length: 66\r\n", "Content-Length: 6, 6\r\n",
        "Transfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Connection: close\r\n", "Connection: keep-alive\r\n", "Expect: 100-continue\r\n",
        "Host: other\r\n", "content-length: 5\r\ncontent-length: 5\r\n"}) {
    std::string bytes(kUsual);
    bytes.insert(bytes.size() - 2, said);
    for (int i = 0; i < 3; ++i) Same(bytes);
  }
}

TEST_F(HttpHeadPatternTest, WhatIsWrongIsWrongAfterManyThatWereRight) {
  // A character anywhere, in the place of another, before it or left out.
  constexpr std::string_view kOthers("\r\n\t :;/aX\0\x7F\x80", 12);
  for (std::size_t at = 0; at < kUsual.size(); ++at) {
    for (const char c : kOthers) {
      for (int change = 0; change < 3; ++change) {
        reader_ = HttpReader();
        LearnUsual();
        std::string bytes(kUsual);
        if (change == 0) bytes[at] = c;
        if (change == 1) bytes.insert(at, 1, c);
        if (change == 2) bytes.erase(at, 1);
        Same(bytes);
      }
    }
    reader_ = HttpReader();
    LearnUsual();
    Same(kUsual.substr(0, at));
  }
}

TEST_F(HttpHeadPatternTest, LimitsHoldForWhatIsAlike) {
  const HttpLimits limits{.request_line = 64, .head = 256, .fields = 8, .body = 16};
  reader_ = HttpReader(limits);
  for (int i = 0; i < 3; ++i) reader_.Read(kUsual, request_);
  const auto code = [&](std::string_view path, std::string_view value) {
    std::string bytes = "GET " + std::string(path) + " HTTP/1.1\r\nHost: weir.local\r\n";
    bytes += "X-Forwarded-Uri: " + std::string(value) + "\r\nX-Plan: free\r\n\r\n";
    HttpReader reader = reader_;
    return reader.Read(bytes, request_).code;
  };
  EXPECT_EQ(code("/check", std::string(100, 'a')), 0);
  EXPECT_EQ(code("/check", std::string(200, 'a')), 431);
  EXPECT_EQ(code("/" + std::string(40, 'a'), "/a"), 0);
  EXPECT_EQ(code("/" + std::string(60, 'a'), "/a"), 414);
}

TEST_F(HttpHeadPatternTest, ManyFieldsAndLongOnesAreReadToo) {
  std::string many = "GET / HTTP/1.1\r\nHost: h\r\n";
  for (std::size_t i = 0; i < 2 * HttpHeadPattern::kMostFields; ++i) {
    Same(many + "\r\n");
    Same(many + "\r\n");
    many += "X-" + std::string(i, 'n') + ": " + std::string(i, 'v') + "\r\n";
    Same(many + "\r\n");
  }
}

// One connection with heads of a few kinds, each changed a little, in pieces of any size: it is
// read as if each were the first, and one number never stands for different names.
TEST_F(HttpHeadPatternTest, AnyHeadsInAnyPiecesAreReadAsIfEachWereTheFirst) {
  constexpr std::array<std::string_view, 10> kLines = {
      "Host: weir.local",
      "X-Forwarded-For: 10.1.2.3",
      "X-Forwarded-Uri: /a/b?c=%20",
      "Cookie: a=b",
      "x-plan: free",
      "X-Plan: free",
      "Content-Length: 0",
      "Connection: keep-alive",
      "X-Very-Long-Name-That-Takes-More-Than-Two-Blocks: and a value that does so too, by itself",
      "A:b"};
  std::mt19937 random(7);
  std::map<std::uint64_t, std::string> names;
  std::size_t alike = 0;
  std::vector<std::string> kinds(4);
  for (int round = 0; round < 4'000; ++round) {
    std::string& kind = kinds[random() % (round % 100 < 70 ? 1 : kinds.size())];
    if (kind.empty() || random() % 50 == 0) {
      kind = random() % 4 == 0 ? "GET /check/" + std::to_string(round) : "GET /check";
      kind += " HTTP/1.1\r\nHost: h\r\n";
      for (std::size_t lines = random() % 8; lines > 0; --lines) {
        kind.append(kLines[1 + random() % (kLines.size() - 1)]).append("\r\n");
      }
      kind += "\r\n";
    }
    std::string bytes = kind;
    for (std::size_t changes = random() % 3; changes > 0; --changes) {
      const std::size_t at = random() % bytes.size();
      if (bytes[at] != '\r' && bytes[at] != '\n' && bytes[at] != ':') {
        bytes[at] = "aZ 09-"[random() % 6];
      }
    }
    HttpReader alone;
    HttpRequest request;
    const std::string expected = ReadBy(alone, bytes, request);
    for (std::size_t size = 0; size < bytes.size();) {
      size = random() % 3 == 0 ? std::min(size + 1 + random() % 60, bytes.size()) : bytes.size();
      const std::vector<char> exact(bytes.begin(),
                                    bytes.begin() + static_cast<std::ptrdiff_t>(size));
      const std::string seen = ReadBy(reader_, {exact.data(), exact.size()}, request_);
      if (seen == "more" && size < bytes.size()) continue;
      ASSERT_EQ(seen, expected) << bytes;
      if (expected.find('|') == std::string::npos) break;  // it was refused
      if (request_.names != 0) {
        ++alike;
        ASSERT_EQ(names.emplace(request_.names, Names(request_)).first->second, Names(request_));
      }
      break;
    }
    if (expected.find('|') == std::string::npos) {  // it was closed
      reader_ = HttpReader();
      names.clear();
    }
  }
  EXPECT_GT(alike, 500U);
}

}  // namespace
}  // namespace weir::wire
