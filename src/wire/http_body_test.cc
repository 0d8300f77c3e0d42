#include "wire/http_body.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace weir::wire {
namespace {

using namespace std::string_literals;

struct Outcome {
  ChunkRead read;
  std::string body;

  bool operator==(const Outcome&) const = default;
};

// Fed in two pieces, or byte by byte. `consumed` is counted over all of them.
Outcome Feed(std::string_view bytes, std::size_t first, std::size_t piece,
             const ChunkLimits& limits = {}) {
  ChunkReader reader(limits);
  Outcome outcome;
  std::size_t consumed = 0;
  for (std::size_t at = 0, size = first; at < bytes.size(); at += size, size = piece) {
    const std::string part(bytes.substr(at, size));
    outcome.read = reader.Read(part, outcome.body);
    consumed += outcome.read.consumed;
    if (outcome.read.status != ChunkStatus::kNeedMore) break;
    EXPECT_EQ(outcome.read.consumed, part.size());
  }
  outcome.read.consumed = consumed;
  return outcome;
}

Outcome ReadAll(std::string_view bytes, const ChunkLimits& limits = {}) {
  return Feed(bytes, bytes.size(), bytes.size(), limits);
}

TEST(HttpBodyTest, ChunksArePutTogether) {
  const std::string bytes = "4\r\nWeir\r\n00C\r\n\r\n at work\r\n\r\n0\r\n\r\n";
  const Outcome outcome = ReadAll(bytes + "GET /");
  EXPECT_EQ(outcome.read.status, ChunkStatus::kDone);
  EXPECT_EQ(outcome.read.consumed, bytes.size());
  EXPECT_EQ(outcome.body, "Weir\r\n at work\r\n");
}

TEST(HttpBodyTest, ExtensionsAndTrailersAreSkipped) {
  const Outcome outcome =
      ReadAll("1;a=\"b;\t\";c\r\nx\r\n000;\r\nExpires: never\r\nContent-Length: 5\r\n\r\nrest");
  EXPECT_EQ(outcome.read.status, ChunkStatus::kDone);
  EXPECT_EQ(outcome.body, "x");
}

TEST(HttpBodyTest, ChunksAreReadStrictly) {
  for (const std::string& bytes : {"\r\n"s,
                                   ";a\r\n"s,
                                   "g\r\n"s,
                                   "-1\r\n"s,
                                   "+1\r\n"s,
                                   "0x1\r\n"s,
                                   " 1\r\n"s,
                                   "1 \r\n"s,
                                   "1\t;a\r\n"s,
                                   "1\n"s,
                                   "1\rx"s,
                                   "1\r\nxx"s,
                                   "1\r\nx\n"s,
                                   "1\r\nx\rx"s,
                                   "1\r\nx\r\n\r\n"s,
                                   "1;a\nb"s,
                                   "1;\0"s,
                                   "1;a\rb"s,
                                   "10000000000000000\r\n"s,
                                   "fffffffffffffffff\r\n"s,
                                   "0\r\n\n"s,
                                   "0\r\n\rX"s,
                                   "0\r\nA: 1\n"s,
                                   "0\r\nA: \0"s,
                                   "0\r\n A: 1\r\n"s,
                                   "0\r\n: 1\r\n"s,
                                   "0\r\nA: 1\rX"s}) {
    const Outcome outcome = ReadAll(bytes);
    EXPECT_EQ(outcome.read.status, ChunkStatus::kBad) << bytes;
    EXPECT_EQ(outcome.read.code, 400) << bytes;
    EXPECT_FALSE(outcome.read.reason.empty());
  }
}

TEST(HttpBodyTest, LimitsAreTheLastThatIsAccepted) {
  const ChunkLimits limits{.body = 5, .extensions = 4, .trailers = 6};
  const auto code = [&](std::string_view bytes) { return ReadAll(bytes, limits).read.code; };
  EXPECT_EQ(code("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"), 0);
  EXPECT_EQ(code("3\r\nabc\r\n3\r\n"), 413);
  EXPECT_EQ(code("6\r\n"), 413);
  EXPECT_EQ(code("ffffffffffffffff\r\n"), 413);
  EXPECT_EQ(code("1;a\r\nx\r\n0;b\r\n"), 0);
  EXPECT_EQ(code("1;a\r\nx\r\n0;bc\r\n"), 400);
  EXPECT_EQ(code("0\r\nA: 1\r\n\r\n"), 0);
  EXPECT_EQ(code("0\r\nA: 12\r\n\r\n"), 431);
}

TEST(HttpBodyTest, SplitAnywhereABodyIsTheSame) {
  for (const std::string& bytes :
       {"4\r\nWeir\r\nC;ext=1\r\n\r\n at work\r\n\r\n0\r\nA: 1\r\nB: 2\r\n\r\nGET /"s,
        "4\r\nWeir\r\nx\r\n"s, "4\r\nWeir\n\n"s, "0\r\n\r\n0\r\n"s, "fffffff\r\nabc"s, "4\r\nWe"s,
        "4\r\nWeir\r\n0\r\nA: \r\r\n"s}) {
    const Outcome whole = ReadAll(bytes);
    EXPECT_EQ(Feed(bytes, 1, 1), whole) << bytes;
    for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
      EXPECT_EQ(Feed(bytes, cut, bytes.size()), whole) << bytes << " at " << cut;
    }
  }
}

}  // namespace
}  // namespace weir::wire
