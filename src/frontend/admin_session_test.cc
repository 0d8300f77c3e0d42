// The admin API without sockets: bytes in, bytes out, in any pieces and however wrong.
#include "frontend/admin_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "rule/rule_file.h"

namespace weir {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr Instant kNoon{std::chrono::seconds(1'780'315'200)};

class AnybodyIsAdmin final : public Access {
 public:
  [[nodiscard]] Caller Identify(std::string_view /*token*/) const override {
    return {"ada", Role::kAdmin};
  }
};

class AdminSessionTest : public testing::Test {
 protected:
  AdminSessionTest() {
    rule::Problems problems;
    auto set = rule::ReadRules(
        "namespace: shop\nrules: [{name: login, by: [user], limit: 3/h, exceed: ban 1h}]\n",
        "test.yaml", problems);
    EXPECT_TRUE(checker_.Publish({std::move(set).value()}, "1").empty());
    parts_.checker = &checker_;
    parts_.access = &access_;
    parts_.files = "rules.yaml";
  }
  static std::string Post(const std::string& path, const std::string& body) {
    return "POST " + path +
           " HTTP/1.1\r\nHost: weir\r\nAuthorization: Bearer x\r\nContent-Type: "
           "application/json\r\nIf-Match: \"1\"\r\nContent-Length: " +
           std::to_string(body.size()) + "\r\n\r\n" + body;
  }
  static std::string Get(const std::string& path) {
    return "GET " + path + " HTTP/1.1\r\nHost: weir\r\nAuthorization: Bearer x\r\n\r\n";
  }
  // All that is answered to `bytes`, which come in pieces of at most `piece`.
  std::string Serve(const std::string& bytes, std::size_t piece) {
    AdminSession session(parts_);
    std::string unread;
    std::string out;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      unread += bytes.substr(at, piece);
      for (bool again = true; again;) {
        std::string answers;
        const AdminSession::Progress progress = session.Serve(unread, kNoon, answers);
        EXPECT_LE(progress.consumed, unread.size());
        unread.erase(0, progress.consumed);
        out += answers;
        if (progress.close) return out;
        again = progress.more;
      }
    }
    return out;
  }

  AnybodyIsAdmin access_;
  Checker checker_{std::move(Ledger::Open({.max_keys = 1000})).value(), {}};
  AdminParts parts_;
};

TEST_F(AdminSessionTest, AnswersTheSameInWhateverPiecesItIsAsked) {
  const std::string client = R"({"namespace":"shop","rule":"login","attributes":{"user":"ann"}})";
  const std::string asked = Get("/v1/rules") + Post("/v1/keys/lookup", client) +
                            Post("/v1/explain", R"({"namespace":"shop"})") + Get("/healthz");
  const std::string whole = Serve(asked, asked.size());
  EXPECT_THAT(whole, StartsWith("HTTP/1.1 200 OK\r\n"));
  EXPECT_THAT(whole, testing::EndsWith("ok\n"));
  for (const std::size_t piece : {1U, 7U, 64U}) EXPECT_EQ(Serve(asked, piece), whole) << piece;
}

TEST_F(AdminSessionTest, ABodyThatIsTooLargeIsRefusedBeforeItComes) {
  EXPECT_THAT(
      Serve("POST /v1/explain HTTP/1.1\r\nHost: weir\r\nContent-Length: 4194305\r\n\r\n", 9),
      StartsWith("HTTP/1.1 413 "));
  std::string chunks =
      "POST /v1/explain HTTP/1.1\r\nHost: weir\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < 5; ++i) chunks += "100000\r\n" + std::string(1 << 20, ' ') + "\r\n";
  EXPECT_THAT(Serve(chunks, 1 << 16), StartsWith("HTTP/1.1 413 "));
}

TEST_F(AdminSessionTest, WhoWaitsForAWordBeforeSendingIsToldToGoOn) {
  AdminSession session(parts_);
  std::string out;
  session.Serve(
      "POST /v1/explain HTTP/1.1\r\nHost: weir\r\nExpect: 100-continue\r\nContent-Length: "
      "2\r\n\r\n",
      kNoon, out);
  EXPECT_EQ(out, "HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_TRUE(session.is_in_request());
  session.Serve("{}", kNoon, out);
  EXPECT_FALSE(session.is_in_request());
  EXPECT_THAT(out, HasSubstr("HTTP/1.1 401 "));
}

// Calls that were right, with a few bytes of each replaced, doubled or left out.
TEST_F(AdminSessionTest, NothingThatIsSentDoesHarm) {
  const std::vector<std::string> calls = {
      Get("/v1/status"),
      Get("/v1/rules?limit=2&after=a%20b"),
      Get("/v1/rules/shop/login"),
      Get("/v1/decisions?allowed=false&rule=login"),
      Get("/v1/top?namespace=shop&rule=login&by=denied"),
      Post("/v1/keys/lookup", R"({"namespace":"shop","rule":"login","attributes":{"user":"a"}})"),
      Post("/v1/keys/reset?dry_run=true",
           R"({"namespace":"shop","rule":"login","attributes":{"user":"\ud83d\ude00"}})"),
      Post(
          "/v1/keys/override",
          R"({"namespace":"shop","rule":"login","attributes":{"user":"a"},"limit":"5/s","for":"1h"})"),
      Post("/v1/explain",
           R"({"namespace":"shop","attributes":{"ip":"10.1.2.3","user":"a"},"cost":3})")};
  std::minstd_rand random(7);
  const auto below = [&random](std::size_t end) { return random() % end; };
  for (int round = 0; round < 4000; ++round) {
    std::string bytes = calls[below(calls.size())];
    for (std::size_t change = 0; change < 1 + below(4); ++change) {
      const std::size_t at = below(bytes.size());
      switch (below(4)) {
        case 0:
          bytes[at] = static_cast<char>(below(256));
          break;
        case 1:
          bytes[at] = "\"{}[]:,%\\/&=?0"[below(14)];
          break;
        case 2:
          bytes.erase(at, 1 + below(8));
          break;
        default:
          bytes.insert(at, bytes.substr(below(bytes.size()), 1 + below(32)));
      }
    }
    const std::string answer = Serve(bytes, 1 + below(200));
    EXPECT_TRUE(answer.empty() || answer.starts_with("HTTP/1.1 ")) << bytes;
    EXPECT_EQ(answer.find("HTTP/1.1 500"), std::string::npos) << bytes;
    EXPECT_LT(answer.size(), 100'000U) << bytes;
  }
}

}  // namespace
}  // namespace weir
